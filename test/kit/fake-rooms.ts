import type { CallEnvelope, Card, Registered, SubmitEnvelope, Task } from "@agent-reach/protocol";
import { traceNamedAfter } from "@agent-reach/protocol";
import type { Caller } from "../../packages/server/src/access/access.js";
import { Concepts } from "../../packages/server/src/catalog/concepts.js";
import { Meaning } from "../../packages/server/src/catalog/meaning.js";
import { Synonyms } from "../../packages/server/src/catalog/synonyms.js";
import { type Config, defaultConfig } from "../../packages/server/src/config.js";
import type { Engine } from "../../packages/server/src/engines/engine.js";
import { openMemory } from "../../packages/server/src/engines/memory/index.js";
import { readLexicon } from "../../packages/server/src/engines/os/lexicon.js";
import { House } from "../../packages/server/src/house.js";
import type { LiveInstance } from "../../packages/server/src/registry/instance.js";
import type { MessageRequest } from "../../packages/server/src/router/message.js";
import { type FakeDelivery, FakeLink } from "./fake-link.js";
import { FakeReply } from "./fake-reply.js";
import { FakeSystem, settle } from "./fake-system.js";

export interface RoomsOptions {
  system?: FakeSystem;
  /** Given again after a restart. */
  engine?: Engine;
  synonyms?: Record<string, string[]>;
  lease?: Partial<Config["lease"]>;
  call?: Partial<Config["call"]>;
  delivery?: Partial<Config["delivery"]>;
  limits?: Partial<Config["limits"]>;
  breaker?: Config["breaker"];
}

/** An instance that is connected, as a test holds it. */
export interface FakeAgent {
  instance: LiveInstance;
  link: FakeLink;
  registered: Registered;
}

export const anyone: Caller = {
  tenant: "default",
  principal: "anonymous",
  principals: new Set(["anonymous"]),
  operator: false,
  sessionId: undefined,
  agentId: undefined,
  instanceId: undefined,
  source: {},
  sourceJson: "{}",
};

/** A caller who registered under this name. */
export const callerOf = (agentId: string): Caller => ({
  ...anyone,
  principal: agentId,
  principals: new Set([agentId]),
  agentId,
  source: { agentId },
  sourceJson: JSON.stringify({ agentId }),
});

const concepts = new Concepts(readLexicon());

/** The rooms of a node on the memory engine under fake time; in place of its doors there are links without a wire. */
export class FakeRooms {
  readonly registry: House["registry"];
  readonly catalog: House["catalog"];
  readonly router: House["router"];
  readonly admission: House["admission"];
  readonly journal: House["journal"];
  readonly wheel: House["wheel"];
  readonly reaper: House["reaper"];
  readonly dispatcher: House["dispatcher"];
  readonly calls: House["calls"];
  readonly tasks: House["tasks"];

  private constructor(
    readonly system: FakeSystem,
    readonly engine: Engine,
    house: House,
    /** What went wrong unexpectedly; a test that expects nothing of the kind asserts that it is empty. */
    readonly trouble: unknown[],
  ) {
    this.registry = house.registry;
    this.catalog = house.catalog;
    this.router = house.router;
    this.admission = house.admission;
    this.journal = house.journal;
    this.wheel = house.wheel;
    this.reaper = house.reaper;
    this.dispatcher = house.dispatcher;
    this.calls = house.calls;
    this.tasks = house.tasks;
  }

  static async open(options: RoomsOptions = {}): Promise<FakeRooms> {
    const { system = new FakeSystem(), engine = await openMemory(), synonyms } = options;
    const trouble: unknown[] = [];
    const newMeaning = () => new Meaning(concepts, undefined);
    const onError = (error: unknown) => void trouble.push(error);
    const house = new House(configOf(options), system, engine, onError, undefined, { newMeaning });
    if (synonyms !== undefined) house.catalog.synonyms = synonymsOf(synonyms);
    // No real clock shows zero any more when the first message comes.
    system.advance(1);
    await house.start();
    await settle();
    return new FakeRooms(system, engine, house, trouble);
  }

  /** As when the process ends: nothing is told to anybody, and what only memory knew is gone. */
  stop(): void {
    this.dispatcher.stop();
    this.tasks.stop();
    this.reaper.stop();
    this.registry.stop();
    this.wheel.stop();
  }

  /** The node again, over the same stores. */
  async restart(options: RoomsOptions = {}): Promise<FakeRooms> {
    this.stop();
    return FakeRooms.open({ system: this.system, engine: this.engine, ...options });
  }

  async join(
    card: Card,
    more: { instanceId?: string; instanceKey?: string; link?: FakeLink } = {},
  ): Promise<FakeAgent> {
    const link = more.link ?? new FakeLink();
    const { instance, result } = await this.registry.register({
      tenant: "default",
      principal: card.agentId,
      card,
      transport: link.kind === "pull" ? "pull" : "ws",
      instanceId: more.instanceId,
      instanceKey: more.instanceKey,
      link: () => link,
      holds: (known) => known.link === link,
    });
    await settle();
    return { instance, link, registered: result };
  }

  /** The connection is gone, in the order in which the door tells it. */
  async cut({ instance, link }: FakeAgent): Promise<void> {
    this.registry.lost(instance, link, "connection closed");
    link.drop();
    if (instance.link === undefined) for (const attempt of [...instance.held]) attempt.lost();
    await settle();
  }

  call(envelope: CallEnvelope, caller: Caller = anyone): FakeReply {
    const reply = new FakeReply();
    try {
      this.calls.start(this.request(envelope, caller), reply);
    } catch (error) {
      reply.error(error as Error);
    }
    return reply;
  }

  async submit(envelope: SubmitEnvelope, caller: Caller = anyone): Promise<FakeReply> {
    const reply = new FakeReply();
    await this.tasks
      .submit(this.request(envelope, caller), reply)
      .catch((error: unknown) => reply.error(error as Error));
    await settle();
    return reply;
  }

  /** `complete` of an agent, whatever it is for. */
  async complete(agent: FakeAgent, delivery: FakeDelivery, value: unknown = { ok: true }): Promise<string> {
    const { messageId } = delivery.message;
    const data = JSON.stringify(value);
    const { record } = agent.instance;
    const ofCall = this.calls.complete(messageId, record.instanceId, delivery.attempt, (attempt) =>
      attempt.completed(data, undefined, value),
    );
    const done =
      ofCall ?? (await this.tasks.complete(messageId, record, delivery.attempt, { data, receipt: undefined }));
    await settle();
    return done;
  }

  /** Time passes. */
  pass(ms: number): Promise<void> {
    return this.system.advanceAsync(ms);
  }

  /** Much time passes at once, as if the host had slept; for waits of days, which would be millions of ticks. */
  async leap(ms: number): Promise<void> {
    this.system.stall(ms);
    await this.pass(1_000);
  }

  async task(messageId: unknown): Promise<NonNullable<Awaited<ReturnType<Engine["tasks"]["get"]>>>> {
    const task = await this.engine.tasks.get(String(messageId));
    if (task === undefined) throw new Error(`no task ${messageId}`);
    return task;
  }

  async state(messageId: unknown): Promise<Task["state"]> {
    return (await this.task(messageId)).state;
  }

  private request(envelope: SubmitEnvelope, caller: Caller): MessageRequest {
    const { sessionRef, sequence, parentId, labels } = envelope;
    const input = envelope.input ?? {};
    const messageId = envelope.messageId ?? this.system.newId();
    return {
      caller,
      messageId,
      traceId: envelope.traceId ?? traceNamedAfter(messageId),
      externalTraceId: undefined,
      envelope,
      input,
      sent: { inputText: JSON.stringify(input), sessionRef, sequence, parentId, labels },
    };
  }
}

function configOf({ lease, call, delivery, limits, breaker }: RoomsOptions): Config {
  const config = defaultConfig();
  return {
    ...config,
    lease: { ...config.lease, ...lease },
    call: { ...config.call, ...call },
    delivery: { ...config.delivery, ...delivery },
    limits: { ...config.limits, ...limits },
    breaker: breaker ?? config.breaker,
    journal: { ...config.journal, messagesMax: 1000 },
  };
}

/** Names with their other phrases, as if they had been read from a file. */
export function synonymsOf(table: Record<string, string[]>): Synonyms {
  const phrases = Object.entries(table).flatMap(([name, list]) => list.map((phrase) => ({ phrase, name })));
  return new Synonyms(phrases.map((each, at) => ({ ...each, origin: `synonyms.yaml:${at + 1}` })));
}

/** A card with the given capabilities, by name or in full. */
export function card(
  agentId: string,
  capabilities: (string | NonNullable<Card["capabilities"]>[number])[] = ["query_order"],
  more: Partial<Card> = {},
): Card {
  return {
    agentId,
    capabilities: capabilities.map((c) => (typeof c === "string" ? { name: c } : c)),
    ...more,
  };
}
