import { limits, ReachError } from "@agent-reach/protocol";
import type { AgentRecord, RegistryStore } from "../ports/registry-store.js";
import type { View } from "./view.js";

/**
 * What agents subscribe to. A subscription belongs to the agent, as its card does, and not to a run of it: it is stored
 * before it is confirmed, outlives restarts of agent and node, and ends by `unsubscribe`, or with the agent when that is
 * forgotten. So what is published while an agent is away is there for it when it comes back.
 */
export class Subscriptions {
  constructor(
    private readonly store: RegistryStore,
    private readonly view: View,
    /** Runs one change of an agent at a time, registrations included. */
    private readonly inTurn: (agentKey: string, run: () => Promise<void>) => Promise<void>,
  ) {}

  subscribe(tenant: string, agentId: string, topic: string): Promise<void> {
    return this.change(tenant, agentId, (topics) => (topics.includes(topic) ? undefined : [...topics, topic]));
  }

  unsubscribe(tenant: string, agentId: string, topic: string): Promise<void> {
    return this.change(tenant, agentId, (topics) =>
      topics.includes(topic) ? topics.filter((other) => other !== topic) : undefined,
    );
  }

  /** `next` answers what the agent is to subscribe to, or undefined if that is so already. */
  private change(
    tenant: string,
    agentId: string,
    next: (topics: readonly string[]) => readonly string[] | undefined,
  ): Promise<void> {
    const key = `${tenant}/${agentId}`;
    return this.inTurn(key, async () => {
      const agent = this.view.agents.get(key);
      if (agent === undefined)
        throw new ReachError("NOT_FOUND", `no agent ${agentId} has registered in the last 24 h; register first.`);
      const { topics: before = [], ...record } = agent.record;
      const topics = next(before);
      if (topics === undefined) return;
      if (topics.length > limits.topicsMax) throw tooMany(agentId);
      const changed: AgentRecord = topics.length === 0 ? record : { ...record, topics };
      const put = await this.store.put([{ record: changed, expected: record.revision }]);
      if (put.ok) return;
      throw new ReachError("CONFLICT", `${agentId} was changed by somebody else at the same moment; do it again.`, {
        retryable: true,
      });
    });
  }
}

function tooMany(agentId: string): ReachError {
  return new ReachError(
    "INVALID_REQUEST",
    `${agentId} subscribes to ${limits.topicsMax} topics already, which is the most; unsubscribe from some, or let one topic carry several kinds of messages.`,
    { path: "topic", details: { topicsMax: limits.topicsMax } },
  );
}
