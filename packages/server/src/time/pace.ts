import type { System } from "../ports/system.js";

/** Long work, done at a pace at which others have the event loop in between: after a stretch of so many ms it rests. */
export class Pace {
  private until: number;

  constructor(
    private readonly system: Pick<System, "monotonic" | "after">,
    private readonly stretchMs: number,
  ) {
    this.until = system.monotonic() + stretchMs;
  }

  /** To be waited for between two steps; undefined while the stretch is not over. */
  rest(): Promise<void> | undefined {
    if (this.system.monotonic() < this.until) return undefined;
    return new Promise((resolve) => {
      this.system.after(0, () => {
        this.until = this.system.monotonic() + this.stretchMs;
        resolve();
      });
    });
  }
}
