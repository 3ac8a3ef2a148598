/** Something that will happen. `run` is taken away when it is called off. */
interface Coming {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Steps between two turns of the real event loop. */
const TOGETHER = 64;
/** Things that happen at one moment before it is taken for a loop without end. */
const ONE_MOMENT_MAX = 100_000;

/**
 * Time as it passes for everybody: whatever happens is an entry in one queue, and happens when its moment has come, those
 * of one moment in the order in which they were set.
 *
 * Between two steps all promises come to rest. Node drains them after each immediate, so a step is an immediate; many are
 * set at once, since a turn of the real event loop costs more than most steps do.
 */
export class World {
  /** Milliseconds since the beginning. */
  now = 0;
  steps = 0;
  readonly #heap: Coming[] = [];
  #order = 0;
  #atOnce = 0;

  /** Calls `run` at this moment, or now if it has passed; the returned function calls it off. */
  at(moment: number, run: () => void): () => void {
    if (Number.isNaN(moment)) throw new Error("something is to happen at no moment at all");
    const coming: Coming = { at: Math.max(moment, this.now), order: this.#order++, run };
    this.#push(coming);
    return () => {
      coming.run = undefined;
    };
  }

  in(delayMs: number, run: () => void): () => void {
    return this.at(this.now + delayMs, run);
  }

  /** Lets time pass until this moment, or until `over` says so after a step. */
  run(until: number, over: () => boolean = () => false): Promise<void> {
    return new Promise((resolve, reject) => {
      let ended = false;
      const step = () => {
        if (ended) return;
        try {
          if (!over() && this.#step(until)) return;
          ended = true;
          resolve();
        } catch (error) {
          ended = true;
          reject(error);
        }
      };
      const turn = () => {
        for (let i = 0; i < TOGETHER; i++) setImmediate(step);
        setImmediate(() => {
          if (!ended) turn();
        });
      };
      turn();
    });
  }

  /** False: nothing is left to happen before then. */
  #step(until: number): boolean {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) {
        this.now = Math.max(this.now, until);
        return false;
      }
      this.#pop();
      const { run } = next;
      if (run === undefined) continue;
      this.#atOnce = next.at > this.now ? 0 : this.#atOnce + 1;
      if (this.#atOnce > ONE_MOMENT_MAX) throw new Error(`at ${this.now} ms something sets itself again without end`);
      this.now = next.at;
      this.steps++;
      run();
      return true;
    }
  }

  #push(coming: Coming): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(coming);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(coming, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = coming;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function before(a: Coming, b: Coming): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
