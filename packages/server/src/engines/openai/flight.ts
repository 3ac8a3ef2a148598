/** What is being asked of a model, by key; whoever asks the same meanwhile comes along. */
export type Flights<T> = Map<string, Flight<T>>;

/**
 * One request on its way, for one or more keys. It belongs to nobody: it goes on as long as one of those who wait for it does,
 * and is called off when the last one leaves.
 */
export class Flight<T> {
  readonly answers: Promise<ReadonlyMap<string, T>>;
  private readonly controller = new AbortController();
  private waiting = 0;
  private landed = false;

  constructor(
    private readonly flights: Flights<T>,
    private readonly keys: readonly string[],
    /** Answers one for each key, in their order. */
    ask: (signal: AbortSignal) => Promise<readonly T[]>,
  ) {
    for (const key of keys) flights.set(key, this);
    this.answers = ask(this.controller.signal).then(
      (answers) => {
        this.land();
        return new Map(keys.map((key, i) => [key, answers[i]!]));
      },
      (error: unknown) => {
        this.land();
        throw error;
      },
    );
    // Whoever waits hears of it; that nobody waits any more is no fault.
    this.answers.catch(() => {});
  }

  join(): void {
    this.waiting++;
  }

  leave(): void {
    this.waiting--;
    if (this.waiting > 0 || this.landed) return;
    this.callOff();
  }

  callOff(reason?: Error): void {
    // At once, so that nobody joins it any more.
    this.land();
    this.controller.abort(reason);
  }

  private land(): void {
    this.landed = true;
    for (const key of this.keys) if (this.flights.get(key) === this) this.flights.delete(key);
  }
}

/** The promise, or the signal's reason if that comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    // Also after an abort: what then becomes of it must not go unheard.
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
