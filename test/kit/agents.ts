import { Mailbox } from "./mailbox.js";
import type { ReachNode } from "./node.js";
import { type Json, newId, Wire } from "./wire.js";
import { patienceMs } from "./within.js";

export interface Delivery {
  envelope: Json;
  attempt: number;
  /** JSON-RPC id on a socket; undefined over HTTP. */
  id?: Json;
  /** The frame as it came. */
  text: string;
}

/** What an agent says to a delivery. undefined: nothing; the test answers by hand. */
export type Handler = (delivery: Delivery) => Json | undefined | Promise<Json | undefined>;

export const completed = (data: Json = null): Json => ({ status: "completed", data });
export const failed = (code: string, message = code, retryable = false): Json => ({
  status: "failed",
  error: { code, message, retryable },
});
export const accepted = { status: "accepted" };
/** Gives back what came in. */
export const echo: Handler = ({ envelope }) => completed(envelope.input);

let cards = 0;

/** A card with one capability, each with a name of its own, so that tests of one node do not meet each other. */
export function cardOf(overrides: Json = {}): Json {
  const n = ++cards;
  const capability = {
    name: `work_${n}_${newId().slice(0, 8)}`,
    description: "Does some work",
    ...overrides.capability,
  };
  const { capability: _, ...rest } = overrides;
  return { agentId: `agent-${n}-${newId().slice(0, 8)}`, capabilities: [capability], ...rest };
}

/** An agent on a bare WebSocket. It does not reconnect; `SocketAgent.join` again with its identity does. */
export class SocketAgent {
  readonly wire: Wire;
  readonly card: Json;
  readonly registered: Json;
  /** Every delivery that came, whether or not it was answered by the handler. */
  readonly deliveries: Mailbox<Delivery>;

  private constructor(wire: Wire, card: Json, registered: Json, deliveries: Mailbox<Delivery>) {
    this.wire = wire;
    this.card = card;
    this.registered = registered;
    this.deliveries = deliveries;
  }

  static async join(
    url: string,
    card: Json = cardOf(),
    handler: Handler = echo,
    identity: { instanceId?: string; instanceKey?: string } = {},
  ): Promise<SocketAgent> {
    const wire = await Wire.open(url);
    const deliveries = new Mailbox<Delivery>();
    wire.handle("deliver", (params, frame) => {
      const delivery = { envelope: params.envelope, attempt: params.attempt, id: frame.json.id, text: frame.text };
      deliveries.put(delivery);
      return handler(delivery);
    });
    const registered = await wire.request("register", { card, ...identity });
    return new SocketAgent(wire, card, registered, deliveries);
  }

  get agentId(): string {
    return this.registered.agentId;
  }

  get instanceId(): string {
    return this.registered.instanceId;
  }

  get identity(): { instanceId: string; instanceKey: string } {
    return { instanceId: this.registered.instanceId, instanceKey: this.registered.instanceKey };
  }

  get capability(): string {
    return this.card.capabilities[0].name;
  }

  next(fits: (delivery: Delivery) => boolean = () => true, ms: number = patienceMs): Promise<Delivery> {
    return this.deliveries.next(`a delivery to ${this.agentId}`, fits, ms);
  }

  /** Hands in a result by `complete`, which may go over any connection. */
  complete(delivery: Delivery, answer: Json, over: Wire = this.wire): Promise<Json> {
    const { messageId } = delivery.envelope;
    const { epoch } = this.registered;
    return over.request("complete", {
      messageId,
      instanceId: this.instanceId,
      epoch,
      attempt: delivery.attempt,
      ...answer,
    });
  }

  heartbeat(facts: Json = {}): Promise<Json> {
    return this.wire.request("heartbeat", { instanceId: this.instanceId, ...facts });
  }

  deregister(): Promise<Json> {
    return this.wire.request("deregister", { instanceId: this.instanceId });
  }

  /** Goes as a process goes that was killed. */
  cut(): void {
    this.wire.cut();
  }
}

/** An agent that has no socket: it asks for its work over HTTP. */
export class PullAgent {
  readonly node: ReachNode;
  readonly card: Json;
  readonly registered: Json;

  private constructor(node: ReachNode, card: Json, registered: Json) {
    this.node = node;
    this.card = card;
    this.registered = registered;
  }

  static async join(node: ReachNode, card: Json = cardOf()): Promise<PullAgent> {
    const answer = await node.http.post("/v1/agents", { card });
    if (answer.status !== 200 && answer.status !== 201)
      throw new Error(`not registered: ${answer.status} ${answer.text}`);
    return new PullAgent(node, card, answer.body);
  }

  get capability(): string {
    return this.card.capabilities[0].name;
  }

  get credentials(): Json {
    const { instanceId, instanceKey, epoch } = this.registered;
    return { instanceId, instanceKey, epoch };
  }

  async pull(options: { max?: number; waitMs?: number } = {}): Promise<Json[]> {
    const answer = await this.post("pull", { max: 10, waitMs: 5_000, ...options });
    if (answer.status !== 200) throw new Error(`pull: ${answer.status} ${answer.text}`);
    return answer.body.deliveries;
  }

  /** One of the routes of this instance: heartbeat, drain, pull. */
  post(route: string, body: Json = {}) {
    const { instanceKey, epoch } = this.registered;
    return this.node.http.post(`/v1/instances/${this.registered.instanceId}/${route}`, { instanceKey, epoch, ...body });
  }

  ack(delivery: Json) {
    return this.#about(delivery, "ack");
  }

  nack(delivery: Json, reason: string, retryAfterMs?: number) {
    return this.#about(delivery, "nack", { reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }

  complete(delivery: Json, answer: Json) {
    return this.#about(delivery, "complete", answer);
  }

  #about(delivery: Json, verb: string, more: Json = {}) {
    const body = { ...this.credentials, attempt: delivery.attempt, ...more };
    return this.node.http.post(`/v1/deliveries/${delivery.envelope.messageId}/${verb}`, body);
  }
}
