import { ReachError } from "@agent-reach/protocol";
import type { LiveInstance, Offer } from "../registry/instance.js";
import type { View } from "../registry/view.js";
import { MATCH, type Resolution, type Resolved, type Wanted } from "./found.js";
import { list, noRoute, unknownAgent } from "./no-route.js";
import type { Phrases } from "./phrases.js";

const BY_AGENT = ["agent", "name"];
const BY_INSTANCE = ["instance", "name"];
const BY_TOPIC = ["topic"];

/** What is meant where somebody is named who is to do it: an agent, an instance, or the subscriber of a topic. */
export class Targets {
  constructor(
    private readonly view: View,
    private readonly phrases: Phrases,
  ) {}

  /** All that it offers, or the one that is named. */
  ofTarget(wanted: Wanted): Resolved[] {
    const agentId = wanted.instanceId === undefined ? wanted.agentId! : undefined;
    const live = wanted.instanceId === undefined ? undefined : this.view.instances.get(wanted.instanceId);
    const instances =
      live !== undefined
        ? [live]
        : [...(agentId === undefined ? [] : (this.view.agent(wanted.tenant, agentId)?.instances ?? []))];
    const names = new Set(instances.flatMap((i) => i.offers.map((o) => o.capability.name)));
    return [...names]
      .filter((name) => wanted.capability === undefined || name === wanted.capability)
      .map((name) => this.narrowed(name, instances, live === undefined ? BY_AGENT : BY_INSTANCE));
  }

  ofInstance(wanted: Wanted, instanceId: string): Resolution {
    const live = this.view.instances.get(instanceId);
    if (live === undefined || live.record.tenant !== wanted.tenant) {
      return {
        ok: false,
        error: noRoute("unknown_agent", `there is no instance ${instanceId}; discover who is there.`, { instanceId }),
      };
    }
    if (wanted.agentId !== undefined && wanted.agentId !== live.record.agentId) {
      return {
        ok: false,
        error: noRoute(
          "unknown_agent",
          `instance ${instanceId} is not one of ${wanted.agentId}; leave one of the two out.`,
          { instanceId },
        ),
      };
    }
    return this.among([live], wanted, live.record.agentId, BY_INSTANCE);
  }

  /** Any instance of an agent that subscribes to the topic: a subscription is the agent's. */
  ofSubscriber({ tenant, agentId }: Wanted, topic: string): Resolution {
    const agent = this.view.agent(tenant, agentId!);
    if (agent === undefined) return { ok: false, error: unknownAgent(agentId!) };
    if (agent.record.topics?.includes(topic) !== true) {
      const message = `${agentId} does not subscribe to "${topic}" any more; what was published before is not delivered.`;
      return { ok: false, error: noRoute("unknown_capability", message, { agentId, topic }) };
    }
    const instances = [...agent.instances];
    const isGone = (live: LiveInstance): boolean => live.record.state === "offline";
    const offers = instances.filter((live) => !isGone(live)).map((live) => live.topicOffer(topic));
    const gone = instances.filter(isGone).map((live) => live.topicOffer(topic));
    return { ok: true, resolved: { name: topic, offers, gone, match: MATCH.name, reasons: BY_TOPIC } };
  }

  ofAgent(wanted: Wanted, agentId: string): Resolution {
    const agent = this.view.agent(wanted.tenant, agentId);
    if (agent === undefined) return { ok: false, error: unknownAgent(agentId) };
    return this.among([...agent.instances], wanted, agentId, BY_AGENT);
  }

  private among(instances: LiveInstance[], wanted: Wanted, agentId: string, reasons: readonly string[]): Resolution {
    const name = wanted.capability ?? (wanted.intent === undefined ? undefined : this.wishOf(wanted, instances));
    if (name !== undefined) {
      const resolved = this.narrowed(name, instances, reasons);
      if (resolved.offers.length + resolved.gone.length > 0) return { ok: true, resolved };
      const offered = namesOf(instances);
      return {
        ok: false,
        error: noRoute("unknown_capability", `${agentId} does not offer "${name}"; it offers ${list(offered)}.`, {
          agentId,
          capability: name,
          nearest: offered.slice(0, 10),
        }),
      };
    }
    const names = namesOf(instances);
    if (names.length === 1) return { ok: true, resolved: this.narrowed(names[0]!, instances, reasons) };
    return {
      ok: false,
      error: new ReachError(
        "INVALID_REQUEST",
        `capability is missing: ${agentId} offers ${names.length === 0 ? "none" : list(names)}, so say which one is meant.`,
        {
          path: "capability",
        },
      ),
    };
  }

  /** Which capability of these instances a phrase means; of its very words, also one that they do not offer. */
  private wishOf({ intent = "", advice }: Wanted, instances: readonly LiveInstance[]): string | undefined {
    const names = namesOf(instances);
    if (names.length === 1) return names[0];
    const { verdict, resolved } = this.phrases.phrased(intent, advice);
    const [first] = resolved;
    if (verdict === "match" && first !== undefined && names.includes(first.name)) return first.name;
    const own = this.phrases.meant(intent, advice, new Set(names));
    return own.verdict === "match" ? own.resolved[0]!.name : undefined;
  }

  private narrowed(name: string, instances: readonly LiveInstance[], reasons: readonly string[]): Resolved {
    const offers: Offer[] = [];
    const gone: Offer[] = [];
    for (const instance of instances) {
      for (const offer of instance.offers) {
        if (offer.capability.name === name) (instance.record.state === "offline" ? gone : offers).push(offer);
      }
    }
    return { name, offers, gone, match: MATCH.name, reasons };
  }
}

function namesOf(instances: readonly LiveInstance[]): string[] {
  return [...new Set(instances.flatMap((i) => i.offers.map((o) => o.capability.name)))].sort();
}
