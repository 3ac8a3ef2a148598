/** A trait is a number: whether the document is there, whether it is Chinese, and from the third bit on its set of operations. */
const ALIVE = 1;
const CHINESE = 2;
const OPERATIONS_AT = 2;

/**
 * What every question asks of every document, side by side in one array: to follow a hundred thousand objects through the memory
 * takes longer than all the rest of a question.
 */
export class Traits {
  private all = new Int32Array(64);
  private count = 0;

  /** Documents are numbered from 0 in the order in which they are added. */
  add(operations: number, chinese: boolean): void {
    if (this.count === this.all.length) {
      const larger = new Int32Array(this.all.length * 2);
      larger.set(this.all);
      this.all = larger;
    }
    this.all[this.count++] = (operations << OPERATIONS_AT) | (chinese ? CHINESE : 0) | ALIVE;
  }

  forget(at: number): void {
    this.all[at] = this.all[at]! & ~ALIVE;
  }

  isAlive(at: number): boolean {
    return isAlive(this.all[at]!);
  }

  isChinese(at: number): boolean {
    return isChinese(this.all[at]!);
  }

  /** The number of its set of operations. */
  operations(at: number): number {
    return operationsOf(this.all[at]!);
  }

  /** The traits of all, by number, until one is added. */
  get column(): Int32Array {
    return this.all;
  }
}

export function isAlive(trait: number): boolean {
  return (trait & ALIVE) !== 0;
}

export function isChinese(trait: number): boolean {
  return (trait & CHINESE) !== 0;
}

export function operationsOf(trait: number): number {
  return trait >> OPERATIONS_AT;
}
