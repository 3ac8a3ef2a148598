import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine } from "../kit/command-line.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";

const node = useNode();
const peers = usePeers(node, "file");
/** Refuses nearly everything that is asked in other words than a card's own. */
const strict = useNode({ settings: { catalog: { acceptAt: 0.9999 } } });
const strictPeers = usePeers(strict, "file");
const home = mkdtempSync(join(tmpdir(), "agent-reach-eval-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const example = "where is my order";
beforeAll(async () => {
  const query = { name: "query_order", examples: [example], idempotent: true };
  // A crowd that offers one capability must not crowd out the others.
  for (let i = 0; i < 5; i++) await peers.join({ agentId: `orders-${i}`, capabilities: [query] });
  await peers.join({ agentId: "refunds", capabilities: [{ name: "refund_order", examples: ["money back"] }] });
  await peers.join({ agentId: "bare", capabilities: [{ name: "ship_goods" }] });
});

const evaluated = async (queries: readonly object[], on = node) => {
  const file = join(home, "queries.jsonl");
  writeFileSync(file, queries.map((query) => JSON.stringify(query)).join("\n"));
  const said = await commandLine(["eval", file, "--json", "--url", `http://127.0.0.1:${on().port}`]);
  return { ...said, result: JSON.parse(said.out) };
};

describe("CAT-9: agent-reach eval of a running node", () => {
  test("asks its catalog, and speaks of the cards of those that were asked for", async () => {
    const { code, result } = await evaluated([
      { text: example, expect: "query_order" },
      { text: "Money Back", expect: "refund_order" },
      { text: "ship goods", expect: "ship_goods" },
      { text: "zzyzx qwrtp", expect: null },
    ]);
    expect(code).toBe(0);
    expect(result).toMatchObject({
      served: 3,
      unserved: 1,
      top1: 1,
      top3: 1,
      acceptedAtThreshold: 1,
      rejectedAtThreshold: 1,
      rejectedAt90: 1,
      confusions: [],
    });
    expect(result.suggestions).toEqual([expect.stringContaining('"ship_goods" has no examples')]);
  });

  test("suggests a threshold that the node would do better with", async () => {
    const wire = await strictPeers.bare();
    await strictPeers.join({ agentId: "orders", capabilities: [{ name: "query_order", examples: [example] }] });
    await strictPeers.join({
      agentId: "weather",
      capabilities: [{ name: "forecast", examples: ["will it rain today"] }],
    });
    const queries = [
      { text: "where has my order got to", expect: "query_order" },
      { text: "does it rain today", expect: "forecast" },
      { text: "zzyzx qwrtp", expect: null },
    ];
    // Cards are learnt beside everything else: before that, nothing comes near.
    for (const { text } of queries.slice(0, 2))
      while ((await wire.request("discover", { intent: text })).misses.length === 0);
    const { result } = await evaluated(queries, strict);
    expect(result).toMatchObject({ top1: 1, acceptedAtThreshold: 0, rejectedAtThreshold: 1, rejectedAt90: 1 });
    expect(result.thresholdAt90).toBeLessThan(0.9999);
    const from = (Math.floor(result.thresholdAt90 * 1000) / 1000).toFixed(3);
    expect(result.suggestions).toContainEqual(
      expect.stringContaining(`With \`catalog.acceptAt\` at ${from}, at least 90 %`),
    );
  });

  test("says which of the expected nobody offers", async () => {
    const { result } = await evaluated([
      { text: example, expect: "query_ordre" },
      { text: "zzyzx", expect: null },
    ]);
    expect(result.confusions).toEqual([{ expected: "query_ordre", got: "query_order", count: 1, texts: [example] }]);
    expect(result.suggestions[0]).toContain('No card offers "query_ordre", which 1 query expects');
  });
});
