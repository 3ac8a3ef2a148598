import type { Connection } from "./connection.js";
import { sdkLimits } from "./limits.js";
import { Ask } from "./pending.js";
import { Waiter } from "./wheel.js";

/** A flag per frame and a look now and then cost less than a clock read per frame. */
const looks = 3;

/**
 * Asks the node for a sign of life after a minute of silence, and gives the socket up when none comes (LIVE-5). After a sleep
 * it asks at once: what was heard before says nothing. The wall clock is looked at too, since the monotonic one stands still
 * while some hosts sleep; if it merely was set, the question does no harm.
 */
export class Probe extends Waiter {
  readonly #connection: Connection;
  heard = false;
  #silentLooks = 0;
  #asked = false;
  /** Both clocks at the last look, ms, and how long after it the next one is due. */
  #monotonicMs = 0;
  #wallMs = 0;
  #waitMs = 0;

  constructor(connection: Connection) {
    super();
    this.#connection = connection;
  }

  start(): void {
    this.heard = false;
    this.#asked = false;
    this.#silentLooks = 0;
    this.#wait(sdkLimits.idleProbeMs / looks);
  }

  stop(): void {
    this.#connection.wheel.clear(this);
  }

  onDue(): void {
    if (this.#slept()) {
      this.#ask();
      return;
    }
    if (this.heard) {
      this.start();
      return;
    }
    if (this.#asked) {
      this.#connection.abandon("no word from the node, nor an answer to ping");
      return;
    }
    if (++this.#silentLooks < looks) this.#wait(sdkLimits.idleProbeMs / looks);
    else this.#ask();
  }

  #wait(ms: number): void {
    const { system } = this.#connection.options.platform;
    this.#monotonicMs = system.monotonic();
    this.#wallMs = system.now();
    this.#waitMs = ms;
    this.#connection.wheel.set(this, ms);
  }

  #slept(): boolean {
    const { system } = this.#connection.options.platform;
    const passedMs = Math.max(system.monotonic() - this.#monotonicMs, system.now() - this.#wallMs);
    return passedMs - this.#waitMs > sdkLimits.sleptMs;
  }

  #ask(): void {
    this.heard = false;
    this.#asked = true;
    this.#connection.send(
      new Ask(
        "ping",
        {},
        "socket",
        () => {},
        () => {},
      ),
      undefined,
    );
    this.#wait(sdkLimits.probeTimeoutMs);
  }
}
