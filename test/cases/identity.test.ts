/** Area I of the failures that users of comparable systems reported: the same id twice. docs/reference/cases.md lists them. */
import { describe, expect, test } from "vitest";
import { cardOf, completed, SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json } from "../kit/wire.js";
import { within } from "../kit/within.js";

const node = useNode();
const { bare, join, keep } = usePeers(node);

describe("one id, two processes", () => {
  test("I01: of two processes with one identity the newer is served alone, and the older one is told so and closed", async () => {
    const card = cardOf({ maxConcurrentTasks: 20, capability: { idempotent: true } });
    const by = (name: string) => () => completed(name);
    const older = await join(card, by("older"));
    const newer = await join(card, by("newer"), older.identity);
    expect(newer.registered.epoch).toBe(older.registered.epoch + 1);
    const caller = await bare();
    const sent: Json[] = await Promise.all(
      Array.from({ length: 20 }, (_, n) => caller.request("submit", { capability: newer.capability, input: n })),
    );
    const done = await Promise.all(
      sent.map(({ messageId }) => caller.request("task.result", { messageId, waitMs: 6_000 }, 10_000)),
    );
    expect(new Set(done.map(({ data }) => data))).toEqual(new Set(["newer"]));
    expect(await within(older.wire.closed, "the older process to be fenced off")).toMatchObject({
      code: 4001,
      reason: expect.stringContaining("superseded"),
    });
    // And without the key the second is refused, since the first is connected.
    const wire = await bare();
    expect(await wire.refused("register", { card, instanceId: newer.instanceId })).toMatchObject({ code: "FORBIDDEN" });
  });

  test("I03: names need not be unique, only ids: two agents of one name are two, and one's removal is not the other's", async () => {
    const [a, b] = [await join(cardOf({ name: "mailer" })), await join(cardOf({ name: "mailer" }))];
    await a.deregister();
    const wire = await bare();
    const stateOf = async (agent: SocketAgent) => (await wire.request("agents.get", { agentId: agent.agentId })).state;
    expect([await stateOf(a), await stateOf(b)]).toEqual(["offline", "online"]);
    expect(await wire.request("call", { capability: b.capability, input: "still" })).toMatchObject({ data: "still" });
    expect(await wire.refused("call", { target: { agentId: a.agentId }, input: 1, timeoutMs: 50 })).toMatchObject({
      code: "UNAVAILABLE",
    });
  });
});

describe("I04: the first words of a connection", () => {
  const steps = {
    hello: { method: "hello", params: { protocol: "1", client: { name: "x", version: "1", language: "x" } } },
    register: { method: "register", params: {} as Json },
    watch: { method: "watch", params: {} },
  };

  test("I04: hello, register and watch sent back to back, without waiting, are answered in order", async () => {
    const wire = await bare({ hello: false });
    const card = cardOf();
    const texts = [steps.hello, { ...steps.register, params: { card } }, steps.watch].map(({ method, params }, id) =>
      JSON.stringify({ jsonrpc: "2.0", id: `s${id}`, method, params }),
    );
    for (const text of texts) wire.sendText(text);
    const answers: Json[] = [];
    for (let i = 0; i < 3; i++) answers.push((await wire.answers.next("an answer")).json);
    expect(answers.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
    expect(answers.find(({ id }) => id === "s1").result).toMatchObject({ agentId: card.agentId, epoch: 1 });
  });

  test.each([["register"], ["watch"]] as const)(
    "I04: %s before hello gets a typed error and one close, 4000, and nothing is half done",
    async (first) => {
      const wire = await bare({ hello: false });
      const card = cardOf();
      const order = [first === "register" ? { ...steps.register, params: { card } } : steps.watch, steps.hello];
      for (const [id, { method, params }] of order.entries())
        wire.sendText(JSON.stringify({ jsonrpc: "2.0", id: `s${id}`, method, params }));
      const { json } = await wire.answers.next("the error");
      expect(json).toMatchObject({ id: "s0", error: { code: -32600, data: { code: "INVALID_REQUEST" } } });
      expect((await within(wire.closed, "the close")).code).toBe(4000);
      expect(await (await bare()).refused("agents.get", { agentId: card.agentId })).toMatchObject({
        code: "NOT_FOUND",
      });
    },
  );

  test("I04: registering over HTTP while the same instance says hello leaves one record, one epoch on top", async () => {
    const card = cardOf();
    const first = await join(card);
    const again = { card, ...first.identity };
    const [overHttp, overSocket] = await Promise.all([
      node().http.post("/v1/agents", again),
      SocketAgent.join(node().url, card, undefined, first.identity),
    ]);
    keep(overSocket);
    expect([overHttp.body.epoch, overSocket.registered.epoch].sort()).toEqual([2, 3]);
    const { instances } = await (await bare()).request("agents.get", { agentId: card.agentId });
    expect(instances).toMatchObject([{ instanceId: first.instanceId, epoch: 3, state: "online" }]);
  });
});
