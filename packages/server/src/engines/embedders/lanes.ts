/** Questions are waited for by a caller; passages are embedded in the background. */
export type Lane = "query" | "passage";

interface Waiting {
  start(): void;
}

/**
 * So much work at once, and the rest in the order in which it came, questions first. Where there is more than one place,
 * the last is kept for questions: a catalog of thousands that is being embedded must not hold up a single one.
 */
export class Lanes {
  private running = 0;
  private readonly waiting: Record<Lane, Set<Waiting>> = { query: new Set(), passage: new Set() };

  constructor(private readonly places: number) {}

  /** Rejects with the signal's reason if it aborts before the work began; later that is the work's own affair. */
  run<T>(lane: Lane, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const entry: Waiting = {
        start: () => {
          signal.removeEventListener("abort", leave);
          this.running++;
          const done = () => {
            this.running--;
            this.next();
          };
          work().finally(done).then(resolve, reject);
        },
      };
      const leave = () => {
        this.waiting[lane].delete(entry);
        reject(signal.reason);
      };
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave, { once: true });
      this.waiting[lane].add(entry);
      this.next();
    });
  }

  private next(): void {
    const { query, passage } = this.waiting;
    const forPassages = Math.max(1, this.places - 1);
    while (this.running < this.places) {
      const lane = query.size > 0 ? query : passage;
      const [entry] = lane;
      if (entry === undefined || (lane === passage && this.running >= forPassages)) return;
      lane.delete(entry);
      entry.start();
    }
  }
}
