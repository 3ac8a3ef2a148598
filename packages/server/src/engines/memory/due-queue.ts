export interface Due {
  readonly at: number;
  readonly seq: number;
}

/**
 * A binary heap by time, then by order of insertion. What is no longer due stays in it until it comes to the top: the
 * taker looks whether an entry still holds, which is cheaper than searching the heap at every change.
 */
export class DueQueue {
  readonly #heap: Due[] = [];

  push(at: number, seq: number): void {
    const entry: Due = { at, seq };
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!sooner(entry, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = entry;
  }

  peek(): Due | undefined {
    return this.#heap[0];
  }

  pop(): Due | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && sooner(heap[child + 1]!, heap[child]!)) child += 1;
      if (!sooner(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function sooner(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.seq < b.seq);
}
