import type { Decision } from "../../packages/server/src/router/decision.js";
import type { Chance } from "./chance.js";
import type { Arrival, Job } from "./ledger.js";
import type { SimLink, Tap } from "./network.js";
import { Partitions } from "./partitions.js";
import type { Universe } from "./universe.js";

/** A `complete` that was sent again by its agent, beside the SDK. The SDK does not know ids that are texts. */
const AGAIN = '"id":"again"';

interface Attempt {
  messageId: string;
  attempt: number;
}

interface Delivered {
  id: number;
  params: {
    attempt: number;
    envelope: {
      messageId: string;
      kind: "call" | "task";
      target: { instanceId: string };
      capability: string;
      timeoutMs: number;
    };
  };
}

/** Listens on the wire, where it shows what the node decided and what it was told; and repeats what agents may repeat. */
export class Taps implements Tap {
  /** By instance, the connection over which it registered last. */
  readonly #registered = new Map<string, SimLink>();
  /** Connections of an instance that were good until it registered over another one. */
  readonly #superseded = new Map<string, Set<SimLink>>();
  readonly #partitions = new Partitions();

  constructor(
    private readonly universe: Universe,
    private readonly chance: Chance,
  ) {}

  sent(from: string, to: string, text: string, link: SimLink): void {
    const { ledger } = this.universe;
    if (ledger.recording) this.#tell(from, `→ ${to} ${text}`, text);
    if (from === "node") {
      if (text.startsWith('"method":"deliver"', text.indexOf('"method"'))) this.#delivers(text, link);
      else if (text.includes('"instanceKey"')) this.#confirms(text, link);
    } else if (text.includes('"method":"complete"') && !text.includes(AGAIN) && this.chance.in(0.2))
      this.#repeat(link, text);
  }

  arrived(from: string, to: string, text: string, link: SimLink): void {
    const { ledger } = this.universe;
    // A session that is over reads nothing more; its agent says it again over the next one.
    if (to === "node" && link.connection?.session.closed === true) return;
    if (to === "node") this.#looksAtLines();
    if (to !== "node") {
      if (ledger.recording) this.#tell(to, `← ${from} ${text.slice(0, 60)}…`, text);
    } else if (text.includes('"status":"completed"')) this.#says(from, "completed", text, link);
    else if (text.includes('"status":"failed"')) this.#says(from, "failed", text, link);
    else if (text.includes('"handback":[{')) this.#handsBack(from, text);
  }

  #says(from: string, says: "completed" | "failed", text: string, link: SimLink): void {
    const frame = JSON.parse(text) as { id: number; method?: string; params: Attempt };
    const about = frame.method === "complete" ? frame.params : link.delivered.get(frame.id);
    if (about !== undefined) this.#arrives(from, says, about);
  }

  #handsBack(from: string, text: string): void {
    const { params } = JSON.parse(text) as { params: { handback: Attempt[] } };
    for (const about of params.handback) this.#arrives(from, "handed back", about);
  }

  #arrives(from: string, says: Arrival["says"], { messageId, attempt }: Attempt): void {
    const { ledger, node } = this.universe;
    ledger.arrivals.push({ at: ledger.now, from, says, messageId, attempt, node: node.run });
    ledger.tell("node", `← ${from} says ${says}, attempt ${attempt}`, ledger.jobOf(messageId));
  }

  /** Whether whom it goes to may have it, as far as the node itself knows. */
  #delivers(text: string, link: SimLink): void {
    const { ledger, node, network } = this.universe;
    const { id, params } = JSON.parse(text) as Delivered;
    const { attempt, envelope } = params;
    const { messageId, kind, target, capability, timeoutMs } = envelope;
    const { instanceId } = target;
    const to = link.process.name;
    link.delivered.set(id, { messageId, attempt });
    ledger.sent.push({
      at: network.world.now,
      messageId,
      kind,
      attempt,
      to,
      instanceId,
      capability,
      timeoutMs,
      node: node.run,
    });
    const job = ledger.jobOf(messageId);
    if (job?.wishes.partitionKey !== undefined) this.#staysTogether(job, messageId, attempt);
    const live = node.house!.registry.view.instances.get(instanceId);
    const { state } = live?.record ?? { state: "unknown" };
    if (state === "draining" || state === "offline" || state === "unknown")
      ledger.wrong(GONE, `attempt ${attempt} went to ${to}, which is ${state} as the node knows`, job);
    else if (this.#superseded.get(instanceId)?.has(link) === true)
      ledger.wrong(GONE, `attempt ${attempt} went to ${to}, which was superseded as the node knows`, job);
    if (live !== undefined && live.running > live.capacity)
      ledger.wrong("room is kept", `${to} got more than the ${live.capacity} that it takes`, job);
  }

  /** All of a key go to one instance, as far as the sender's own wish goes: whoever stands in has no such home. */
  #staysTogether(job: Job, messageId: string, attempt: number): void {
    const { node, ledger } = this.universe;
    const decision = node.house!.journal.find(messageId)?.detailOf(["decision"]) as Decision | undefined;
    if (decision?.attempt !== attempt || decision.request?.["standIn"] !== undefined) return;
    const wrong = this.#partitions.add(`${job.capability} ${job.wishes.partitionKey}`, decision);
    if (wrong !== undefined) ledger.wrong("what has one key goes to one instance", wrong, job);
  }

  /** A registration counts from the moment it is confirmed, and ends the one before. */
  #confirms(text: string, link: SimLink): void {
    const { result } = JSON.parse(text) as { result?: { instanceId: string } };
    if (result === undefined) return;
    const { instanceId } = result;
    const before = this.#registered.get(instanceId);
    this.#registered.set(instanceId, link);
    if (before === undefined || before === link) return;
    const superseded = this.#superseded.get(instanceId) ?? new Set();
    this.#superseded.set(instanceId, superseded.add(before));
  }

  /** Where an instance registered last. */
  hostOf(instanceId: string): string | undefined {
    return this.#registered.get(instanceId)?.host;
  }

  #looksAtLines(): void {
    const { node, config, ledger } = this.universe;
    for (const [capability, count] of node.house!.admission.lines())
      if (count > config.limits.queuedCallsMax)
        ledger.wrong("a line keeps its limit", `${count} calls wait for ${capability}`);
  }

  #repeat(link: SimLink, text: string): void {
    const { world, network } = this.universe;
    const { process } = link;
    world.in(this.chance.between(0, 3_000), () => {
      if (!process.alive || process.paused) return;
      const newest = [...network.links]
        .filter((other) => other.process === process && other.connection?.session.helloed)
        .at(-1);
      newest?.client.send(text.replace(/"id":\d+/, AGAIN));
    });
  }

  #tell(who: string, what: string, text: string): void {
    const { ledger } = this.universe;
    const messageId = /"messageId":"([^"]+)"/.exec(text)?.[1];
    const job = messageId === undefined ? undefined : ledger.jobOf(messageId);
    // What belongs to no job would bury the rest.
    if (job !== undefined) ledger.tell(who, what.length > 300 ? `${what.slice(0, 300)}…` : what, job);
  }
}

export const GONE = "nothing is delivered to whom the node knows to be gone";
