import { Operator } from "@agent-reach/sdk/operator";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { createHttp } from "../../packages/server/src/gateway/http.js";
import type { Rooms } from "../../packages/server/src/gateway/rooms.js";
import { cardOf } from "../kit/agents.js";
import { FakePeer, silence } from "../kit/fake-peer.js";
import { card, FakeRooms } from "../kit/fake-rooms.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { gate } from "../kit/within.js";

/** Area T of the cases: long work, on fake time where it takes minutes. */
let rooms: FakeRooms | undefined;
afterEach(() => {
  expect(rooms?.trouble ?? []).toEqual([]);
  rooms?.stop();
  rooms = undefined;
});

describe("T01: work that takes longer than the usual minute", () => {
  for (const reports of [true, false])
    test(`T01: ends by the caller's own limit and no other, ${reports ? "with" : "without"} progress`, async () => {
      rooms = await FakeRooms.open();
      const agent = await rooms.join(card("slow"));
      const inTime = rooms.call({ capability: "query_order", input: {}, timeoutMs: 200_000 });
      const late = rooms.call({ capability: "query_order", input: {}, timeoutMs: 170_000 });
      const deliveries = [agent.link.next(), agent.link.next()];
      for (const delivery of deliveries) delivery.accept();
      for (let passed = 0; passed < 180_000; passed += 10_000) {
        await rooms.pass(10_000);
        rooms.registry.renewAll([agent.instance]);
        if (!reports) continue;
        for (const { message } of deliveries)
          rooms.calls.progress(
            message.messageId,
            agent.instance.record.instanceId,
            JSON.stringify({ messageId: message.messageId, percent: passed / 2_000 }),
          );
      }
      // Progress moves no deadline: it is the caller's total, and the answer says which limit it was and what to do.
      expect(late.failure).toMatchObject({ code: "TIMEOUT", outcome: "unknown" });
      expect(late.failure.message).toMatch(/no result within 1700\d\d ms; give the call more time, or submit a task/);
      await rooms.complete(agent, deliveries[0]!, { at: "last" });
      expect(inTime.data).toEqual({ at: "last" });
      expect(inTime.progresses.length > 10).toBe(reports);
    });
});

describe("T02: a timeout of 120 s, and work of 90 s", () => {
  test("T02: the node waits, and handler and nested calls are told what is left", async () => {
    rooms = await FakeRooms.open();
    const outer = await rooms.join(card("outer", ["plan"]));
    const inner = await rooms.join(card("inner", ["look"]));
    const called = rooms.call({ capability: "plan", input: {}, timeoutMs: 120_000 });
    const delivery = outer.link.next();
    expect(JSON.parse(delivery.message.envelope).timeoutMs).toBe(120_000);
    delivery.accept();
    await rooms.pass(60_000);
    for (const agent of [outer, inner]) rooms.registry.renewAll([agent.instance]);
    const parentId = delivery.message.messageId;
    for (const [asked, given] of [
      [90_000, 60_000],
      [20_000, 20_000],
      [undefined, 30_000],
    ] as const) {
      rooms.call({ capability: "look", input: {}, parentId, ...(asked !== undefined && { timeoutMs: asked }) });
      const left = JSON.parse(inner.link.next().message.envelope).timeoutMs;
      expect(left).toBeLessThanOrEqual(given);
      expect(left).toBeGreaterThan(given - 1_000);
    }
    await rooms.pass(30_000);
    await rooms.complete(outer, delivery, "done");
    expect(called.data).toBe("done");
  });

  test("T02: the SDK waits, and sends what remains when it has to send again", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const called = peer.client().callSync({ capability: "x", timeoutMs: 120_000 });
    await peer.settle();
    expect(peer.session.of("call")[0]!["params"].timeoutMs).toBe(120_000);
    await peer.advance(60_000);
    await peer.bounce();
    const again = peer.session.of("call")[0]!;
    expect(again["params"].timeoutMs).toBeLessThanOrEqual(60_000);
    expect(again["params"].timeoutMs).toBeGreaterThan(55_000);
    await peer.advance(30_000);
    peer.session.send({ id: again["id"], result: { data: "done" } });
    expect(await called).toMatchObject({ data: "done" });
  });

  test("T02: the HTTP server has no limit of its own for an answer", () => {
    const settings = { messageBytes: 1_000, helloTimeoutMs: 10_000, requestTimeoutMs: 30_000 };
    const app = createHttp({ settings } as Rooms);
    onTestFinished(() => void app.close());
    // 0 is never: `timeout` ends silent sockets. `requestTimeout` is for the request to come in, see e2e/slow-requests.
    expect([app.server.timeout, app.server.requestTimeout]).toEqual([0, 30_000]);
    expect(app.server.keepAliveTimeout).toBeGreaterThan(60_000);
  });
});

describe("T04: a wait that ends before the task", () => {
  const node = useNode();
  const { join, bare } = usePeers(node);

  test("T04: says that it goes on, over socket, HTTP and the operator, and the result comes later", async () => {
    const working = gate();
    const agent = await join(cardOf(), async () => {
      await working.opened;
      return { status: "completed", data: "at last" };
    });
    const caller = await bare();
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: {} });
    await agent.next();
    const operator = new Operator({ url: `http://127.0.0.1:${node().port}` });
    const asks = [
      (waitMs: number) => caller.request("task.result", { messageId, waitMs }),
      async (waitMs: number) => (await node().http.get(`/v1/tasks/${messageId}?waitMs=${waitMs}`)).body,
      (waitMs: number) => operator.task(messageId, { waitMs }),
    ];
    for (const ask of asks) {
      const task = await ask(50);
      expect(task).toMatchObject({ messageId });
      expect(["delivered", "working"]).toContain(task.state);
      expect(task).not.toHaveProperty("error");
    }
    const results = asks.map((ask) => ask(10_000));
    working.open();
    for (const result of results) expect(await result).toMatchObject({ state: "completed", data: "at last" });
    const { events } = await caller.request("task.events", { messageId });
    expect(events.map(({ type }: { type: string }) => type)).not.toContain("failed");
  });
});
