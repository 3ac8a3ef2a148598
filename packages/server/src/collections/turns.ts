/** One piece of work at a time for each key, in the order in which they came; those of different keys do not wait for each other. */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** For how many keys something is under way. */
  get size(): number {
    return this.last.size;
  }

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key);
    const turn = before === undefined ? work() : before.then(work, work);
    this.last.set(key, turn);
    const done = () => {
      if (this.last.get(key) === turn) this.last.delete(key);
    };
    turn.then(done, done);
    return turn;
  }
}
