import { beforeAll, describe, expect, test } from "vitest";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json, Wire } from "../kit/wire.js";

/** Requests in words, at a real node with the embedder in the box. */
const node = useNode();
const peers = usePeers(node, "file");
let wire: Wire;
const discover = (intent: string): Promise<Json> => wire.request("discover", { intent });

const cards = [
  {
    agentId: "orders",
    capabilities: [
      {
        name: "order.list",
        operation: "list",
        description: "List the orders of a customer",
        examples: ["show me my orders", "which orders are open", "all orders of last week"],
      },
      {
        name: "order.cancel",
        operation: "cancel",
        description: "Cancel an order that has not been shipped",
        examples: ["cancel my order", "stop the order, I do not want it any more", "call off order 4711"],
      },
    ],
  },
  {
    agentId: "refunds",
    capabilities: [
      {
        name: "refund.status",
        operation: "query",
        description: "查询退款进度",
        examples: ["我的退款到哪了", "退款什么时候到账", "钱退了没有"],
      },
    ],
  },
];

beforeAll(async () => {
  wire = await peers.bare();
  for (const card of cards) await peers.join(card);
  // Cards are learnt beside everything else: who asks at once may be told no.
  for (const intent of ["please call off my order", "退的款什么时候能到"])
    while ((await discover(intent)).verdict !== "match");
});

describe("CAT-3: a request in words", () => {
  test.each([
    ["could you stop the order I placed", "order.cancel"],
    ["把我刚下的订单取消掉", "order.cancel"],
    ["把我剛下的訂單取消掉", "order.cancel"],
    ["has the refund been paid out", "refund.status"],
    ["please list everything I have ordered", "order.list"],
  ])("is called where it is served: %s", async (intent, capability) => {
    const { data, messageId } = await wire.request("call", { intent, input: { n: 1 } });
    expect(data).toEqual({ n: 1 });
    const { decisions } = (await node().http.get(`/v1/messages/${messageId}`)).body;
    expect(decisions[0].request).toEqual({ intent });
    expect(decisions[0].candidates[0]).toMatchObject({ capability, verdict: "chosen" });
    expect(decisions[0].candidates[0].reasons).toEqual([
      "meaning",
      expect.stringMatching(/^confidence [01]\.\d\d$/),
      ...["lexical", "concepts", "words", "embedding", "operation", "covered"].map((stage) =>
        expect.stringMatching(new RegExp(`^${stage} \\d\\.\\d\\d$`)),
      ),
    ]);
  });

  test("is answered by whoever comes near the first; who does not is a miss", async () => {
    const answer = await discover("please stop the order I placed");
    expect(answer.fit).toBeGreaterThan(0);
    expect(answer.fit).toBeLessThan(1);
    expect(answer.candidates.map((c: Json) => c.capability)).toEqual(["order.cancel"]);
    expect(answer.misses.map((m: Json) => m.capability)).toContain("order.list");
  });

  test("may be a task", async () => {
    const { messageId } = await wire.request("submit", { intent: "please call off my order", input: {} });
    const task = await wire.request("task.result", { messageId, waitMs: 30_000 });
    expect(task).toMatchObject({ state: "completed", capability: "order.cancel" });
  });

  test("to one agent means one of its own capabilities", async () => {
    const target = { agentId: "refunds" };
    const { agentId } = await wire.request("call", { intent: "退款到账了吗", target, input: {} });
    expect(agentId).toBe("refunds");
  });
});

describe("CAT-8: what nobody serves", () => {
  test.each(["translate this contract into French", "给我讲个笑话"])(
    "is refused with the nearest: %s",
    async (intent) => {
      const answer = await discover(intent);
      expect(answer).toMatchObject({ verdict: "no_match", candidates: [] });
      for (const { match } of answer.misses) expect(match).toBeLessThan(0.5);
      expect(await wire.refused("call", { intent, input: {} })).toMatchObject({
        code: "NO_ROUTE",
        data: { outcome: "not_executed", details: { reason: "no_match" } },
      });
    },
  );
});

/** Each at a node of its own: what nobody offers any more is remembered, and would be as near as what somebody does. */
describe.each([
  { name: "data_fetch", tags: ["data/fetch/sql"] },
  { name: "warehouse", tags: ["data/fetch/sql"], operation: "query" },
])("CAT-2: without a file of synonyms, %j", (capability) => {
  const own = usePeers(useNode(), "file");

  test("sql查询 finds the capability whose tag is data/fetch/sql, though it says nothing else", async () => {
    const asking = await own.bare();
    for (const card of cards) await own.join(card);
    await own.join({ agentId: capability.name, capabilities: [capability] });
    while ((await asking.request("discover", { intent: "sql查询" })).verdict !== "match");
    for (const intent of ["sql查询", "SQL 查詢", "查一下sql"])
      expect((await asking.request("discover", { intent })).candidates).toMatchObject([
        { capability: capability.name, reasons: expect.arrayContaining(["meaning"]) },
      ]);
  });
});
