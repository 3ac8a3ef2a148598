import type { CallEnvelope, Card, Registered, SubmitEnvelope, Task } from "@agent-reach/protocol";
import { limits, traceNamedAfter } from "@agent-reach/protocol";
import type { Caller } from "../../packages/server/src/access/access.js";
import { Catalog } from "../../packages/server/src/catalog/catalog.js";
import { Synonyms } from "../../packages/server/src/catalog/synonyms.js";
import { defaultConfig } from "../../packages/server/src/config.js";
import { connect } from "../../packages/server/src/connect.js";
import type { Engine } from "../../packages/server/src/engines/engine.js";
import { openMemory } from "../../packages/server/src/engines/memory/index.js";
import { Journal } from "../../packages/server/src/journal/journal.js";
import type { LiveInstance } from "../../packages/server/src/registry/instance.js";
import { Reaper } from "../../packages/server/src/registry/reaper.js";
import { Registry, type RegistrySettings } from "../../packages/server/src/registry/registry.js";
import { Admission, type AdmissionSettings } from "../../packages/server/src/router/admission.js";
import { type CallSettings, Calls } from "../../packages/server/src/router/calls.js";
import type { MessageRequest } from "../../packages/server/src/router/message.js";
import { type BreakerSettings, Router } from "../../packages/server/src/router/router.js";
import { presets } from "../../packages/server/src/router/score.js";
import { MessageShelf } from "../../packages/server/src/router/shelf.js";
import { Dispatcher, type DispatchSettings } from "../../packages/server/src/tasks/dispatcher.js";
import { Tasks } from "../../packages/server/src/tasks/tasks.js";
import { Wheel } from "../../packages/server/src/time/wheel.js";
import { type FakeDelivery, FakeLink } from "./fake-link.js";
import { FakeReply } from "./fake-reply.js";
import { FakeSystem, settle } from "./fake-system.js";

export interface RoomsOptions {
  system?: FakeSystem;
  /** Given again after a restart. */
  engine?: Engine;
  synonyms?: Record<string, string[]>;
  lease?: Partial<RegistrySettings>;
  call?: Partial<CallSettings>;
  delivery?: Partial<DispatchSettings>;
  waitingMax?: number;
  limits?: Partial<AdmissionSettings>;
  breaker?: BreakerSettings;
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

/** The rooms of a node on the memory engine under fake time, joined as the node joins them, without a door. */
export class FakeRooms {
  readonly system: FakeSystem;
  readonly engine: Engine;
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly router: Router;
  readonly admission: Admission;
  readonly journal: Journal;
  readonly wheel: Wheel;
  readonly reaper: Reaper;
  readonly dispatcher: Dispatcher;
  readonly calls: Calls;
  readonly tasks: Tasks;
  /** What went wrong unexpectedly; a test that expects nothing of the kind asserts that it is empty. */
  readonly trouble: unknown[] = [];

  private constructor(options: RoomsOptions, engine: Engine) {
    const system = options.system ?? new FakeSystem();
    this.system = system;
    this.engine = engine;
    const onError = (error: unknown) => void this.trouble.push(error);
    const delivery: DispatchSettings = {
      ackTimeoutMs: 5000,
      slowAckTimeoutMs: 30_000,
      backoffMs: [1000, 3000, 9000],
      lossesMax: 5,
      lostGraceMs: 2000,
      gapTimeoutMs: 30_000,
      ...options.delivery,
    };
    const call: CallSettings = {
      timeoutMs: 30_000,
      rememberMs: 60_000,
      messagesMax: 1000,
      inputBytes: limits.inputBytesMax,
      ...delivery,
      ...options.call,
    };
    this.wheel = new Wheel(system);
    this.journal = new Journal(
      engine.journal,
      system,
      "node-1",
      { messagesMax: 1000, keepSec: 86_400 },
      onError,
      new MessageShelf(1000),
    );
    this.registry = new Registry(engine.registry, system, { ...leaseSettings, ...options.lease });
    this.catalog = new Catalog(this.registry.view, new Synonyms(options.synonyms));
    this.router = new Router(system, { weights: presets["balanced"]!, healthMin: 0.8 }, options.breaker);
    this.admission = new Admission(system, {
      ...defaultConfig().limits,
      queuedCallsMax: options.waitingMax ?? 1000,
      ...options.limits,
    });
    const { registry, catalog, router, admission, journal, wheel } = this;
    this.dispatcher = new Dispatcher(
      engine.tasks,
      catalog,
      router,
      admission,
      journal,
      wheel,
      system,
      delivery,
      onError,
    );
    const { dispatcher } = this;
    this.calls = new Calls(catalog, router, admission, journal, wheel, system, call, (id) => dispatcher.parentOf(id));
    const settings = {
      completionTimeoutMs: 600_000,
      deadlineMs: 86_400_000,
      keepSec: 86_400,
      inputBytes: limits.inputBytesMax,
    };
    const parentOf = (id: string) => this.calls.open(id) ?? dispatcher.parentOf(id);
    this.tasks = new Tasks(
      engine.tasks,
      catalog,
      router,
      journal,
      dispatcher,
      system,
      settings,
      parentOf,
      onError,
      admission,
    );
    this.reaper = new Reaper(registry, system, wheel, onError);
    connect({ registry, catalog, router, admission, dispatcher, journal, onError });
  }

  static async open(options: RoomsOptions = {}): Promise<FakeRooms> {
    const rooms = new FakeRooms(options, options.engine ?? (await openMemory()));
    // No real clock shows zero any more when the first message comes.
    rooms.system.advance(1);
    await rooms.journal.start();
    await rooms.registry.start();
    await rooms.dispatcher.start();
    rooms.tasks.start();
    rooms.reaper.start();
    await settle();
    return rooms;
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

const leaseSettings: RegistrySettings = {
  nodeId: "node-1",
  cardBytes: limits.cardBytesMax,
  heartbeatIntervalSec: 15,
  ttlHeartbeats: 3,
  graceHeartbeats: 2,
  ttlSec: undefined,
  graceSec: undefined,
  purgeAfterSec: 86_400,
  flapRestSec: 30,
  massExpiryHoldSec: 300,
};

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
