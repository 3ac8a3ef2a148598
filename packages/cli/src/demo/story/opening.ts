import type { Agent } from "@agent-reach/sdk";
import { renderTable } from "../../render/table.js";
import { orderCount } from "../orders.js";
import { agents, enter, type Scene } from "../scene.js";
import type { Actor } from "../stage.js";

/** A node, and four agents on four stacks. */
export async function showArrival(scene: Scene, node: Actor): Promise<void> {
  const { teller, client, cast } = scene;
  teller.step(
    "Everybody arrives",
    `A reach node is running, with a shop's ${orderCount} orders in a SQLite file beside it. Four agents start, each a process of its own, ` +
      "each built differently, and leave their card with the node.",
  );
  await Promise.all(agents.map((name) => enter(scene, name)));
  const known = new Map((await client.agents()).map((agent) => [agent.agentId, agent]));
  const rows = agents.map((name) => rowOf(known.get(name), cast.get(name)?.pid));
  const table = renderTable(["AGENT", "STACK", "CAN DO", "STATE", "PID"], rows, teller.paint);
  teller.show(`\n${table.replace(/^(?=.)/gm, "    ")}\n`);
  const online = agents.filter((name) => known.get(name)?.state === "online");
  teller.check(
    online.length === agents.length,
    `${online.length} of ${agents.length} agents are online; the node is pid ${node.pid} at ${scene.httpUrl}`,
  );
}

/** Finding somebody by what they can do. */
export async function showDiscovery({ teller, client }: Scene): Promise<void> {
  teller.step(
    "Discovery",
    "Who can do it? One asks for a capability, or for a tag above it, and never for an address.",
  );
  const byName = await client.discover({ capability: "query_order" });
  const [first] = byName.candidates;
  teller.check(
    byName.verdict === "match" && first?.agentId === "order-agent",
    `"query_order" → ${first?.agentId} (score ${first?.score.toFixed(2)}, found by ${first?.reasons.join(", ")})`,
  );
  const byTag = await client.discover({ tags: ["commerce/return"] });
  const found = byTag.candidates.map(({ capability, agentId }) => `${capability} of ${agentId}`);
  teller.check(found.length === 2, `tag "commerce/return" → ${found.join(", ")}`);
  const nobody = await client.discover({ capability: "book_flight" });
  teller.check(
    nobody.verdict === "no_match",
    `"book_flight" → ${nobody.verdict}: finding nobody is an answer, not an error`,
  );
}

function rowOf(agent: Agent | undefined, pid: number | undefined): string[] {
  const { card } = agent ?? {};
  const names = (card?.capabilities ?? []).map(({ name }) => name);
  return [
    agent?.agentId ?? "?",
    card?.labels?.["stack"] ?? "",
    names.join(", "),
    agent?.state ?? "missing",
    String(pid),
  ];
}
