import { FakeSystem } from "./fake-system.js";

/** Every look at the clock takes three milliseconds, so that whoever works at a pace has to rest often. */
export class SlowSystem extends FakeSystem {
  override monotonic(): number {
    this.stall(3);
    return super.monotonic();
  }
}
