import type { System } from "../ports/system.js";

/** How often a connection whose answers are held back is pinged. */
const PING_MS = 10_000;

/**
 * Answers of one connection, held back as long as a task result that came before them is not on disk: the agent takes
 * any answer as leave to forget those results (W3).
 */
export class HeldAnswers {
  /** Results that came, and how many of them are safe, counted from the first without a gap. */
  private came = 0;
  private safe = 0;
  private readonly safeOutOfOrder = new Set<number>();
  private held: { after: number; text: string }[] = [];
  private stopPings: (() => void) | undefined;

  constructor(
    private readonly system: System,
    private readonly write: (text: string) => void,
    /** Shows the other side that the node is alive: a store that cannot write may hold answers back for long. */
    private readonly ping: () => void,
  ) {}

  send(text: string): void {
    if (this.safe < this.came) this.held.push({ after: this.came, text });
    else this.write(text);
  }

  /** A result came; what is sent from now on waits until it, and those before it, are safe. */
  waitFor(result: Promise<void>): void {
    const number = ++this.came;
    this.stopPings ??= this.pingWhileHeld();
    const done = () => {
      this.safeOutOfOrder.add(number);
      while (this.safeOutOfOrder.delete(this.safe + 1)) this.safe++;
      let ready = 0;
      while (ready < this.held.length && this.held[ready]!.after <= this.safe) this.write(this.held[ready++]!.text);
      if (ready > 0) this.held = this.held.slice(ready);
    };
    result.then(done, done);
  }

  stop(): void {
    this.stopPings?.();
  }

  private pingWhileHeld(): () => void {
    return this.system.after(PING_MS, () => {
      this.stopPings = undefined;
      if (this.safe === this.came) return;
      this.ping();
      this.stopPings = this.pingWhileHeld();
    });
  }
}
