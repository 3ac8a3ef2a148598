/** The share of calls that may be sent once more, and the number a second that always may. */
const SHARE = 0.1;
const FLOOR_PER_SEC = 10;
const WINDOW_SEC = 10;

/**
 * How many further attempts calls may make: a tenth of the calls of the last ten seconds, and ten a second besides, so that
 * a quiet node may retry at all (RES-2). A failure that hits everybody would otherwise be multiplied by the retries just
 * when there is least room for them. Time (monotonic ms) is passed in.
 *
 * Ten seconds, a share of the traffic and a floor a second are the scheme of Finagle's `RetryBudget`; the tenth is the
 * share that Google's SRE book (2016, "Handling Overload") gives a client.
 */
export class RetryBudget {
  private readonly calls = new Int32Array(WINDOW_SEC);
  private readonly retries = new Int32Array(WINDOW_SEC);
  private callsSum = 0;
  private retriesSum = 0;
  private second = 0;
  /** Since the start, for the metrics. */
  readonly counts = { granted: 0, denied: 0 };

  /** A call came. */
  add(now: number): void {
    this.calls[this.slot(now)]!++;
    this.callsSum++;
  }

  /** Takes one retry out of the budget; false when it is spent. */
  take(now: number): boolean {
    const slot = this.slot(now);
    if (this.retriesSum + 1 > this.allowed) {
      this.counts.denied++;
      return false;
    }
    this.retries[slot]!++;
    this.retriesSum++;
    this.counts.granted++;
    return true;
  }

  /** The retry that was taken a moment ago was not made. */
  giveBack(now: number): void {
    const slot = this.slot(now);
    if (this.retries[slot] === 0) return;
    this.retries[slot]!--;
    this.retriesSum--;
  }

  /** How many retries there may be in the window, as things stand. */
  get allowed(): number {
    return SHARE * this.callsSum + FLOOR_PER_SEC * WINDOW_SEC;
  }

  private slot(now: number): number {
    const second = Math.floor(now / 1000);
    // Past a whole window everything is emptied once, and no oftener.
    if (second > this.second) {
      for (let s = Math.max(this.second, second - WINDOW_SEC) + 1; s <= second; s++) this.empty(s % WINDOW_SEC);
      this.second = second;
    }
    return this.second % WINDOW_SEC;
  }

  private empty(slot: number): void {
    this.callsSum -= this.calls[slot]!;
    this.retriesSum -= this.retries[slot]!;
    this.calls[slot] = 0;
    this.retries[slot] = 0;
  }
}
