import type { AgentReachClient } from "@agent-reach/sdk";
import type { Operator } from "@agent-reach/sdk/operator";
import type { Connection } from "@agent-reach/server/sqlite";
import type { Actor, Stage } from "./stage.js";
import type { Tally } from "./tally.js";
import type { Teller } from "./teller.js";

export const agents = ["pre-sale-agent", "order-agent", "after-sale-agent", "batch-agent"] as const;
export type AgentName = (typeof agents)[number];

const scripts: Record<AgentName, { script: string; edge: "ws" | "http" }> = {
  "pre-sale-agent": { script: "./agents/pre-sale.js", edge: "ws" },
  "order-agent": { script: "./agents/order.js", edge: "ws" },
  "after-sale-agent": { script: "./agents/after-sale.js", edge: "http" },
  "batch-agent": { script: "./agents/batch.js", edge: "http" },
};

/** What every step of the story finds: the node, the agents, somebody who calls, and somebody who tells it. */
export interface Scene {
  readonly stage: Stage;
  readonly teller: Teller;
  readonly tally: Tally;
  /** The caller. It never registered: whoever only asks need not. */
  readonly client: AgentReachClient;
  readonly operator: Operator;
  readonly orders: Connection;
  readonly wsUrl: string;
  readonly httpUrl: string;
  /** Who plays which agent at the moment. */
  readonly cast: Map<AgentName, Actor>;
}

/** Starts the agent in a process of its own; it is ready when it can be reached. */
export async function enter(scene: Scene, name: AgentName): Promise<Actor> {
  const { script, edge } = scripts[name];
  const url = edge === "ws" ? scene.wsUrl : scene.httpUrl;
  const { actor } = await scene.stage.start(name, script, [url, scene.stage.file("orders.sqlite")]);
  scene.cast.set(name, actor);
  return actor;
}
