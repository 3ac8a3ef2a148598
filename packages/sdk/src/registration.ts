import type { Capability, Card, ErrorBody, Registered } from "@agent-reach/protocol";
import type { Connection } from "./connection.js";
import { failure, toError } from "./failure.js";
import { sdkLimits } from "./limits.js";
import { withFields } from "./logger.js";
import { Ask } from "./pending.js";
import type { IdentityStore } from "./platform.js";
import { Alarm } from "./wheel.js";

/** A card as `register` takes it: capabilities may be bare names, and unknown fields go through. */
export type CardInput = Omit<Card, "capabilities"> & {
  capabilities?: (Capability | string)[];
  [field: string]: unknown;
};

/** A card as it goes over the wire. */
export type WireCard = CardInput & { capabilities: Capability[] };

export interface RegistrationOptions {
  readonly identities: IdentityStore | undefined;
  readonly card: () => WireCard;
  /** The node confirmed it: the first time, after a reconnect, or after a change. */
  readonly onRegistered: (registered: Registered) => void;
  readonly onError: (error: ErrorBody) => void;
}

/**
 * Who the instance is, and that the node knows it.
 *
 * G1  It registers in `start()` and again in every later session, under the same instanceId, before any other request.
 * G2  An instanceId that is not ours to take (any more) is given up for a fresh one, once per attempt.
 */
export class Registration {
  current: Registered | undefined;
  instanceId: string;
  readonly #connection: Connection;
  readonly #options: RegistrationOptions;
  #instanceKey: string | undefined;
  #waiting: { resolve: (registered: Registered) => void; reject: (error: Error) => void }[] = [];

  constructor(connection: Connection, agentId: string, options: RegistrationOptions) {
    this.#connection = connection;
    this.#options = options;
    const saved = options.identities?.load();
    const known = saved?.agentId === agentId ? saved : undefined;
    this.instanceId = known?.instanceId ?? connection.options.platform.system.newId();
    this.#instanceKey = known?.instanceKey;
  }

  /** Resolves with the next confirmation of the node; rejects when it refuses the card. */
  next(): Promise<Registered> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** `done` is called when other requests may follow, be it because the node refused for good. */
  send(done: () => void = () => {}, fresh = false): void {
    const connection = this.#connection;
    const { generation } = connection;
    const params = { card: this.#options.card(), instanceId: this.instanceId, instanceKey: this.#instanceKey };
    const answer = (registered: Registered) => {
      this.#accept(registered);
      done();
      // After `done`, so that whoever waited for `start()` finds the connection online.
      for (const { resolve } of this.#waiting.splice(0)) resolve(registered);
    };
    const refused = (error: ErrorBody) => {
      // Lost with its socket: the next session registers again.
      if (connection.generation !== generation || !connection.hasSocket) return;
      if (error.code === "FORBIDDEN" && !fresh) {
        connection.options.logger.warn("the instance is not ours to take over; registering a new one", {
          instanceId: this.instanceId,
        });
        this.instanceId = connection.options.platform.system.newId();
        this.#instanceKey = undefined;
        this.send(done, true);
        return;
      }
      if (error.retryable) {
        const again = new Alarm(() => connection.generation === generation && this.send(done, fresh));
        connection.wheel.set(again, error.retryAfterMs ?? sdkLimits.completeRetryMs);
        return;
      }
      this.reject(error);
      this.#options.onError(error);
      done();
    };
    connection.send(new Ask("register", params, "socket", answer, refused), undefined);
  }

  /** Tells all who wait that it will not be. */
  reject(error: ErrorBody = failure("CANCELED", "the client was closed")): void {
    for (const { reject } of this.#waiting.splice(0)) reject(toError(error));
  }

  #accept(registered: Registered): void {
    const { agentId, instanceId, instanceKey } = registered;
    const told = this.current?.warnings ?? [];
    this.current = registered;
    this.instanceId = instanceId;
    this.#instanceKey = instanceKey;
    this.#options.identities?.save({ agentId, instanceId, instanceKey });
    const log = withFields(this.#connection.options.logger, { agentId, instanceId });
    // Every reconnect registers anew, and what was said once need not be said again.
    for (const warning of registered.warnings ?? []) if (!told.includes(warning)) log.warn(warning);
    this.#options.onRegistered(registered);
  }
}
