const SLOTS_MIN = 1024;
/** A slot is two numbers: a key, and the number of its feature from 1 on; 0: free. */
const SLOT = 2;
/** A table of fewer slots is copied into a larger one at once, which takes a millisecond or two. */
const AT_ONCE_MAX = 1 << 17;
/** Of a larger one, so many slots are copied for each feature that comes; it is through long before the next time. */
const SLOTS_PER_FEATURE = 16;

/**
 * Numbers features from 0 on, in the order in which they come; a feature is told by its key of 32 bits. A table of half a million
 * cannot be copied in one go while others wait for the event loop, so it goes over into a larger one bit by bit, and both are
 * looked into meanwhile.
 */
export class FeatureTable {
  private slots = new Int32Array(SLOTS_MIN * SLOT);
  private old: Int32Array | undefined;
  /** What of the old one has been copied: slots below this. */
  private copied = 0;
  private used = 0;

  /** How many there are. */
  get size(): number {
    return this.used;
  }

  /** The number of a feature, -1 if it is not known. */
  find(key: number): number {
    const number = this.slots[placeOf(this.slots, key) + 1]! - 1;
    if (number >= 0 || this.old === undefined) return number;
    return this.old[placeOf(this.old, key) + 1]! - 1;
  }

  /** Numbers a feature that is not known yet. */
  add(key: number): number {
    if (this.old !== undefined) this.copy(SLOTS_PER_FEATURE);
    else if (this.used * 2 >= this.slots.length / SLOT) this.grow();
    const number = this.used++;
    this.put(key, number + 1);
    return number;
  }

  /**
   * All numbers, in an order that depends on the keys alone as far as it can; in steps, and without those that come meanwhile. Waits
   * for the copy to be through.
   */
  *inOrder(): Generator<void, Int32Array> {
    while (this.old !== undefined) {
      this.copy(AT_ONCE_MAX / 4);
      yield;
    }
    // If it grows meanwhile, it goes over into another one, and stays as it is.
    const { slots } = this;
    const numbers = new Int32Array(this.used);
    let count = 0;
    for (let at = 1; at < slots.length; at += SLOT) {
      const number = slots[at]! - 1;
      if (number >= 0 && number < numbers.length) numbers[count++] = number;
      if (at % AT_ONCE_MAX === 1) yield;
    }
    return numbers;
  }

  private grow(): void {
    this.old = this.slots;
    this.copied = 0;
    this.slots = new Int32Array(this.old.length * 2);
    if (this.old.length / SLOT < AT_ONCE_MAX) this.copy(this.old.length);
  }

  private copy(slots: number): void {
    const old = this.old!;
    const end = Math.min(old.length, (this.copied + slots) * SLOT);
    for (let at = this.copied * SLOT; at < end; at += SLOT) if (old[at + 1] !== 0) this.put(old[at]!, old[at + 1]!);
    this.copied = end / SLOT;
    if (end === old.length) this.old = undefined;
  }

  private put(key: number, number: number): void {
    const at = placeOf(this.slots, key);
    this.slots[at] = key;
    this.slots[at + 1] = number;
  }
}

/** Where a key is, or would be. */
function placeOf(slots: Int32Array, key: number): number {
  const mask = slots.length / SLOT - 1;
  // Sequential keys, which concepts have, would otherwise fill one stretch.
  let n = (Math.imul(key, 0x9e3779b1) >>> 7) & mask;
  while (slots[n * SLOT + 1] !== 0 && slots[n * SLOT] !== key) n = (n + 1) & mask;
  return n * SLOT;
}
