import { type Card, type Params, ReachError, type Registered } from "@agent-reach/protocol";
import { type CardHints, readCard } from "@agent-reach/protocol/read";
import { Turns } from "../collections/turns.js";
import type { Link } from "../ports/delivery.js";
import type { InstanceRecord, RegistryChange, RegistryPut, RegistryStore } from "../ports/registry-store.js";
import type { System } from "../ports/system.js";
import { Pace } from "../time/pace.js";
import { Contracts } from "./contract.js";
import { Fence } from "./fence.js";
import { Flapping } from "./flapping.js";
import { assertOwner, assertSpeaksFor, assertTakeover, hashOf } from "./identity.js";
import type { LiveInstance } from "./instance.js";
import { type LeaseEvent, registered, transition } from "./lifecycle.js";
import { Subscriptions } from "./subscriptions.js";
import { type LeaseSettings, leaseWarnings, termsOf } from "./terms.js";
import { Versions } from "./versions.js";
import { type AgentEntry, View, type ViewChange } from "./view.js";

export interface RegistrySettings extends LeaseSettings {
  nodeId: string;
  purgeAfterSec: number;
  /** How long an instance that came and went too often gets no new work; 0: that is nobody's business. */
  flapRestSec: number;
  /** How long nobody is given up while most of the fleet is silent; see `mass-expiry`. */
  massExpiryHoldSec: number;
  cardBytes: number;
}

export interface RegisterRequest {
  tenant: string;
  principal: string;
  card: unknown;
  transport: "ws" | "pull";
  instanceId?: string | undefined;
  instanceKey?: string | undefined;
  /** Makes the way to the instance, once it is known which one it is. */
  link: (instance: LiveInstance) => Link;
  /** Whether this link holds the instance already, which makes the registration an update. */
  holds: (instance: LiveInstance) => boolean;
}

/** So long it looks at a stretch. */
const PURGE_STRETCH_MS = 2;

/**
 * Who is there. Confirms a registration only when it is durable; everything else about an instance lives in memory and
 * is stored when its state changes.
 */
export class Registry {
  readonly contracts = new Contracts();
  readonly view: View;
  private readonly listeners: ((change: ViewChange) => void)[] = [];
  /** One registration of an agent at a time, in order of arrival. */
  private readonly turns = new Turns();
  private readonly versions: Versions;
  private readonly fence: Fence;
  readonly subscriptions: Subscriptions;
  private readonly keys = new WeakMap<LiveInstance, string>();
  private readonly flapping = new Flapping();
  private readonly rests = new Map<LiveInstance, () => void>();
  private stopWatch: (() => void) | undefined;

  constructor(
    private readonly store: RegistryStore,
    private readonly system: System,
    readonly settings: RegistrySettings,
  ) {
    this.versions = new Versions(store);
    this.fence = new Fence(store);
    this.view = new View(
      this.contracts,
      (record) => termsOf(record.card, settings),
      () => system.now(),
    );
    this.subscriptions = new Subscriptions(store, this.view, (key, run) => this.turns.run(key, run));
  }

  onChange(listener: (change: ViewChange) => void): void {
    this.listeners.push(listener);
  }

  /**
   * Loads what is stored. Nobody has a link yet, so whoever was online must be heard of again. `loaded` is called in
   * between: what comes after it is news, also for a watcher who saw everything before the node stopped.
   */
  async start(loaded: () => void = () => {}): Promise<void> {
    await this.fence.load();
    this.stopWatch = await this.store.watch((change) => this.changed(change));
    this.view.revision = await this.store.revision();
    loaded();
    const now = this.system.now();
    const puts: RegistryPut[] = [];
    for (const live of this.view.instances.values()) {
      live.lostAt = this.system.monotonic();
      const next = transition(live.record, { type: "lost", reason: "the node restarted" }, now);
      if (next.ok && next.changed) puts.push({ record: next.record, expected: live.record.revision });
    }
    if (puts.length === 0) return;
    this.flapping.excuse(Number.POSITIVE_INFINITY);
    await this.store.put(puts);
    this.flapping.excuse(this.system.monotonic());
  }

  stop(): void {
    this.stopWatch?.();
    for (const stop of this.rests.values()) stop();
    this.rests.clear();
  }

  async register(request: RegisterRequest): Promise<{ instance: LiveInstance; result: Registered }> {
    const read = readCard(request.card, { transport: request.transport });
    if (!read.ok) {
      throw new ReachError("INVALID_CARD", read.message, { path: read.path, details: { rule: read.rule } });
    }
    this.assertSize(read.bytes);
    const card = read.card as Card;
    this.assertCard(card);
    for (const [i, capability] of (card.capabilities ?? []).entries()) this.contracts.verify(capability, i);
    const key = `${request.tenant}/${card.agentId}`;
    return this.turns.run(key, () => this.registerInTurn(request, card, read.hints, key, [...read.warnings]));
  }

  private assertSize(bytes: number): void {
    const { cardBytes } = this.settings;
    if (bytes <= cardBytes) return;
    throw new ReachError(
      "INVALID_CARD",
      `the card has ${bytes} bytes, over the limit of ${cardBytes}; keep descriptions short and schemas lean.`,
      { path: "card", details: { bytes, bytesMax: cardBytes } },
    );
  }

  private async registerInTurn(
    request: RegisterRequest,
    card: Card,
    hints: CardHints,
    agentKey: string,
    warnings: string[],
  ) {
    const now = this.system.now();
    const wantedId = request.instanceId?.toLowerCase();
    const known = wantedId === undefined ? undefined : this.view.instances.get(wantedId);
    const sameLink = known !== undefined && request.holds(known);
    if (known !== undefined) assertOwner(known.record, request.tenant, card.agentId);
    if (known !== undefined && !sameLink) assertTakeover(known.record, known.link !== undefined, request.instanceKey);

    const agent = this.view.agents.get(agentKey);
    const content = this.versions.contentOf(agent?.record, card);
    const isKnown = agent?.record.version === content.version;
    const puts = this.versions.puts(agent, request.tenant, content, known?.record, now);

    const instanceId = wantedId ?? this.system.newId();
    const tooOften = known === undefined || sameLink ? undefined : this.tooOften(known);
    const instanceKey = (sameLink ? this.keys.get(known) : request.instanceKey) ?? this.system.newSecret();
    const record = registered(
      {
        tenant: request.tenant,
        agentId: card.agentId,
        instanceId,
        principal: request.principal,
        keyHash: sameLink ? known.record.keyHash : hashOf(instanceKey),
        secret: card.transport?.type === "http" ? instanceKey : undefined,
        card,
        cardVersion: content.version,
        node: this.settings.nodeId,
        reason: this.restReason(tooOften),
      },
      known?.record,
      sameLink,
      // An instanceId that was made here is new, and nobody holds an older epoch of it.
      request.instanceId === undefined ? 0 : this.fence.epoch,
      now,
    );
    puts.push({ record, expected: known?.record.revision ?? 0 });
    const put = await this.store.put(puts);
    if (!put.ok) {
      throw new ReachError(
        "CONFLICT",
        `instance ${instanceId} of ${card.agentId} was changed by somebody else at the same moment; register again.`,
        {
          retryable: true,
        },
      );
    }
    const live = this.view.instances.get(instanceId)!;
    if (!sameLink) {
      const older = live.link;
      live.link = undefined;
      older?.close(4001, "superseded by a newer registration of this instance");
      live.link = request.link(live);
    }
    this.keys.set(live, instanceKey);
    live.lostAt = undefined;
    live.lastHeartbeatAt = now;
    if (!sameLink) live.begin();
    if (Object.keys(hints).length > 0) live.report({ ...hints }, hints.health);
    if (tooOften !== undefined) this.rest(live, tooOften);
    this.renew(live);
    for (const listener of this.comers) listener(live, !sameLink);
    const { heartbeatIntervalMs, ttlMs, graceMs } = live.terms;
    warnings.push(...this.warningsOf(card, isKnown), ...leaseWarnings(live.terms, this.settings));
    const result: Registered = {
      agentId: card.agentId,
      instanceId,
      instanceKey,
      epoch: record.epoch,
      version: content.version,
      revision: put.revisions[put.revisions.length - 1]!,
      lease: { heartbeatIntervalSec: heartbeatIntervalMs / 1000, ttlSec: ttlMs / 1000, graceSec: graceMs / 1000 },
      warnings,
    };
    return { instance: live, result };
  }

  /** Whether a card may be taken at all, beyond its shape; set by whoever would have to reach it. */
  assertCard: (card: Card) => void = () => {};

  /**
   * What is allowed on a card but likely a mistake; set by whoever reads what cards say. `isKnown`: it is the content that the
   * agent showed before.
   */
  warningsOf: (card: Card, isKnown: boolean) => string[] = () => [];

  private readonly comers: ((instance: LiveInstance, anew: boolean) => void)[] = [];

  /** Called when an instance has (again) a way to be reached; `anew`: under a new epoch. */
  onArrival(listener: (instance: LiveInstance, anew: boolean) => void): void {
    this.comers.push(listener);
  }

  /** Gives an instance that has proven itself a way to be reached again, as after a restart of the node. */
  attach(instance: LiveInstance, link: Link): void {
    instance.link = link;
    instance.lostAt = undefined;
    for (const listener of this.comers) listener(instance, true);
  }

  /** The instance that an HTTP request speaks for; its key and epoch must be right. */
  authorize(instanceId: string, instanceKey: string | undefined, epoch: number | undefined): LiveInstance {
    const live = this.view.instances.get(instanceId);
    if (live === undefined) throw new ReachError("NOT_FOUND", `no instance ${instanceId}; register again.`);
    assertSpeaksFor(live.record, instanceKey, epoch);
    return live;
  }

  /** Any word of the instance renews its lease. Answers false for one whose lease is gone (R1). */
  renew(instance: LiveInstance): boolean {
    this.renewAll([instance]);
    return instance.record.state !== "offline";
  }

  /** The same for all that share a connection, with one look at the clock. */
  renewAll(instances: Iterable<LiveInstance>): void {
    const now = this.system.monotonic();
    for (const instance of instances) {
      instance.renewedAt = now;
      if (instance.record.state === "suspect") void this.change(instance, { type: "renewed" });
    }
  }

  /**
   * A heartbeat: renews the lease and brings the agent's own numbers, which are kept apart from the measured ones
   * (LIVE-10). Answers the state, or `unknown` when it must register again.
   */
  heartbeat(
    instance: LiveInstance,
    beat: Omit<Params<"heartbeat">, "instanceId">,
  ): "online" | "suspect" | "draining" | "unknown" {
    if (!this.renew(instance)) return "unknown";
    instance.lastHeartbeatAt = this.system.now();
    // What it runs beyond what it got from here is work that others gave it.
    if (beat.load?.running !== undefined) instance.otherRunning = Math.max(0, beat.load.running - instance.running);
    if (beat.load?.queued !== undefined) instance.selfQueued = beat.load.queued;
    const { health } = instance;
    instance.report(beat.facts, beat.health);
    if (instance.health !== health) for (const listener of this.comers) listener(instance, false);
    const { state } = instance.record;
    return state === "draining" ? state : "online";
  }

  /** The link to the instance is gone, if it still was its link. */
  lost(instance: LiveInstance, link: Link, reason: string): void {
    if (instance.link !== link) return;
    instance.link = undefined;
    instance.lostAt = this.system.monotonic();
    void this.change(instance, { type: "lost", reason });
  }

  drain(instance: LiveInstance, reason: string): Promise<void> {
    return this.change(instance, { type: "drain", reason });
  }

  async deregister(instance: LiveInstance, reason: string): Promise<void> {
    await this.change(instance, { type: "goodbye", reason });
    const link = instance.link;
    instance.link = undefined;
    if (link !== undefined && link.kind !== "ws") link.close(1000, reason);
  }

  /** Moves an instance through its lifecycle, in turn with registrations of its agent. */
  change(instance: LiveInstance, event: LeaseEvent): Promise<void> {
    const { tenant, agentId } = instance.record;
    return this.turns.run(`${tenant}/${agentId}`, () => this.changeInTurn(instance, event));
  }

  /**
   * A store that cannot write must not decide who is alive: then the change is
   * kept in memory alone, on top of the stored revision, and the next one that gets through carries it along.
   */
  private async changeInTurn(instance: LiveInstance, event: LeaseEvent): Promise<void> {
    for (let tries = 0; tries < 10; tries++) {
      const before = instance.record;
      const back = event.type === "renewed" && before.state === "suspect";
      const tooOften = back ? this.tooOften(instance) : undefined;
      const told = tooOften === undefined ? event : { ...event, reason: this.restReason(tooOften) };
      const next = transition(before, told as LeaseEvent, this.system.now());
      if (!next.ok || !next.changed) return;
      // Before it is online for anybody to see.
      if (tooOften !== undefined) this.rest(instance, tooOften);
      try {
        const put = await this.store.put([{ record: next.record, expected: before.revision }]);
        if (put.ok) return;
      } catch {
        if (instance.record === before) this.changed({ type: "put", revision: before.revision, record: next.record });
        return;
      }
    }
  }

  /** Losses of leases up to this moment, monotonic ms, are the node's own doing. */
  excuseLosses(until: number): void {
    this.flapping.excuse(until);
  }

  private tooOften(instance: LiveInstance): number | undefined {
    if (this.settings.flapRestSec <= 0) return undefined;
    return this.flapping.tooOften(instance.losses, () => this.view.fleet, this.system.monotonic());
  }

  private restReason(losses: number | undefined): string | undefined {
    if (losses === undefined) return undefined;
    return `back, but it lost its lease ${losses} times in 2 minutes: no new work for ${this.settings.flapRestSec} s`;
  }

  /** It gets no new work for a while (LIVE-6); whoever waits for it is tried again afterwards. */
  private rest(instance: LiveInstance, losses: number): void {
    const restMs = this.settings.flapRestSec * 1000;
    const until = this.system.monotonic() + restMs;
    instance.flapping = { losses, until, restsUntil: this.system.now() + restMs };
    instance.coolDownUntil = Math.max(instance.coolDownUntil, until);
    this.rests.get(instance)?.();
    const over = () => {
      this.rests.delete(instance);
      for (const listener of this.comers) listener(instance, false);
    };
    this.rests.set(instance, this.system.after(restMs + 1, over));
  }

  /**
   * Forgets instances that have been offline for long, agents without instances, and outdated versions. It looks at everybody, and at
   * a pace: they may be a hundred thousand.
   */
  async purge(): Promise<void> {
    const now = this.system.now();
    const before = now - this.settings.purgeAfterSec * 1000;
    const pace = new Pace(this.system, PURGE_STRETCH_MS);
    const { instances, agents, capabilities } = this.view;
    const gone: InstanceRecord[] = [];
    for (const { record } of instances.values()) {
      if (record.state === "offline" && record.since <= before) gone.push(record);
      await pace.rest();
    }
    await this.fence.raise(gone.reduce((highest, { epoch }) => Math.max(highest, epoch), 0));
    for (const record of gone) await this.store.remove("instance", record.key, record.revision);
    for (const [key, agent] of agents) {
      await this.turns.run(key, () => this.purgeAgent(agent, now, before));
      await pace.rest();
    }
    for (const name of capabilities.keys()) {
      this.view.forgetCapability(name, before);
      await pace.rest();
    }
  }

  /** In turn with registrations: one of them may be about to use what would be forgotten. */
  private async purgeAgent(agent: AgentEntry, now: number, before: number): Promise<void> {
    const { record, instances } = agent;
    if (instances.size > 0 || record.changedAt >= before) return this.versions.purge(agent, now);
    if (await this.store.remove("agent", record.key, record.revision)) await this.versions.forget(record);
  }

  async version(tenant: string, agentId: string, version: number): Promise<Card> {
    const agent = this.view.agent(tenant, agentId);
    if (agent !== undefined) return this.versions.read(agent, version, this.system.now());
    throw new ReachError("NOT_FOUND", `no agent ${agentId} has registered in the last 24 h.`, { path: "agentId" });
  }

  private changed(change: RegistryChange): void {
    const seen = this.view.apply(change);
    if (seen.instance !== undefined && seen.before === "online" && seen.instance.record.state === "suspect")
      this.flapping.lost(seen.instance.losses, this.system.monotonic());
    for (const listener of this.listeners) listener(seen);
  }
}
