import type { Connection } from "./connection.js";
import { sdkLimits } from "./limits.js";
import { Ask } from "./pending.js";
import { Waiter } from "./wheel.js";

/** A flag per frame and a look now and then cost less than a clock read per frame. */
const looks = 3;

/** Asks the node for a sign of life after a minute of silence, and gives the socket up when none comes (LIVE-5). */
export class Probe extends Waiter {
  readonly #connection: Connection;
  heard = false;
  #silentLooks = 0;
  #asked = false;

  constructor(connection: Connection) {
    super();
    this.#connection = connection;
  }

  start(): void {
    this.heard = false;
    this.#asked = false;
    this.#silentLooks = 0;
    this.#connection.wheel.set(this, sdkLimits.idleProbeMs / looks);
  }

  stop(): void {
    this.#connection.wheel.clear(this);
  }

  onDue(): void {
    if (this.heard) {
      this.start();
      return;
    }
    if (this.#asked) {
      this.#connection.abandon("no word from the node, nor an answer to ping");
      return;
    }
    if (++this.#silentLooks < looks) {
      this.#connection.wheel.set(this, sdkLimits.idleProbeMs / looks);
      return;
    }
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
    this.#connection.wheel.set(this, sdkLimits.probeTimeoutMs);
  }
}
