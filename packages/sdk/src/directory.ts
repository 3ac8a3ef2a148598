import type { Agent, Discovery, InstanceState, Params } from "@agent-reach/protocol";
import { limits } from "@agent-reach/protocol";
import type { Connection } from "./connection.js";

export type DiscoverQuery = Params<"discover">;

export interface AgentFilter {
  readonly state?: InstanceState;
  readonly capability?: string;
  /** `key` or `key=value`. */
  readonly label?: string;
  /** At most so many agents; all of them without it. */
  readonly limit?: number;
}

/** Who is there. Everything here throws a ReachError when it cannot be answered. */
export class Directory {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  discover(query: DiscoverQuery): Promise<Discovery> {
    return this.#connection.ask("discover", query);
  }

  agent(agentId: string, version?: number): Promise<Agent> {
    return this.#connection.ask("agents.get", { agentId, version });
  }

  /** Follows the pages to the end. */
  async agents(filter: AgentFilter): Promise<Agent[]> {
    const { state, capability, label, limit = Number.POSITIVE_INFINITY } = filter;
    const found: Agent[] = [];
    let cursor: string | undefined;
    do {
      const left = limit - found.length;
      const params = { state, capability, label, cursor, limit: Math.min(left, limits.pageMax) };
      const page: { agents: Agent[]; cursor?: string } = await this.#connection.ask("agents.list", params);
      found.push(...page.agents);
      cursor = page.cursor;
    } while (cursor !== undefined && found.length < limit);
    return found;
  }
}
