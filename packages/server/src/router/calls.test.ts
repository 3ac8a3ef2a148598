import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import { anyone, callerOf, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
let agent: FakeAgent;
beforeEach(async () => {
  rooms = await FakeRooms.open();
  agent = await rooms.join(card("a1", ["query", { name: "timed", timeoutHintMs: 700 }]));
});
const uuid = (n: number): string => `0199a5c2-6f0e-7c11-9b1e-${String(n).padStart(12, "0")}`;

describe("DLV-2: a call", () => {
  test("carries the input there and the data back, with who did it", async () => {
    const reply = rooms.call({
      capability: "query",
      input: { id: 7 },
      messageId: uuid(1),
      sessionRef: "s",
      sequence: 3,
    });
    const { envelope, attempt } = agent.link.next();
    expect(attempt).toBe(1);
    expect(envelope).toMatchObject({ messageId: uuid(1), kind: "call", capability: "query", input: { id: 7 } });
    expect(envelope).toMatchObject({ sessionRef: "s", sequence: 3, idempotencyKey: uuid(1), timeoutMs: 30_000 });
    expect(envelope).toMatchObject({ source: {}, target: { agentId: "a1" } });
    agent.link.deliveries[0]!.complete({ status: "shipped" }, '{"steps":[1]}');
    expect(reply.results).toEqual([
      {
        messageId: uuid(1),
        traceId: envelope.traceId,
        data: { status: "shipped" },
        agentId: "a1",
        instanceId: agent.registered.instanceId,
        receipt: { steps: [1] },
      },
    ]);
    expect(rooms.calls.counts).toEqual({ started: 1, completed: 1, failed: 0, inFlight: 0 });
    expect(agent.instance.running).toBe(0);
    expect(rooms.system.pending).toBe(await timersOfIdleRooms());
  });

  test("may be received first and completed later, over any connection", async () => {
    const reply = rooms.call({ capability: "query" });
    const delivery = agent.link.next();
    delivery.accept();
    await rooms.pass(20_000);
    expect(reply.answers).toBe(0);
    expect(await rooms.complete(agent, delivery, 42)).toBe("recorded");
    expect(reply.data).toBe(42);
    expect(await rooms.complete(agent, delivery, 43)).toBe("SETTLED");
    expect(reply.answers).toBe(1);
    expect(agent.instance.held.size).toBe(0);
  });

  test("a link that answers within the delivery leaves nothing behind", async () => {
    agent.link.handler = (delivery) => void delivery.complete("at once");
    const reply = rooms.call({ capability: "query" });
    expect(reply.data).toBe("at once");
    agent.link.handler = (delivery) => delivery.accept();
    const slow = rooms.call({ capability: "query" });
    await rooms.pass(10_000);
    expect(slow.answers).toBe(0);
    await rooms.pass(21_000);
    expect(slow.failure).toMatchObject({ code: "TIMEOUT" });
    expect(rooms.calls.counts.inFlight).toBe(0);
  });

  test("a business error is the answer, not a failure of ours: told once, and tried nowhere else", async () => {
    const other = await rooms.join(card("a2", ["query"]));
    const reply = rooms.call({ capability: "query" });
    const [first] = [...agent.link.deliveries, ...other.link.deliveries];
    first!.fail({ code: "NO_SUCH_ORDER", message: "no such order", data: { id: 7 }, retryable: true });
    expect(reply.failure).toMatchObject({
      code: "AGENT_ERROR",
      outcome: "executed",
      retryable: true,
      details: { code: "NO_SUCH_ORDER", data: { id: 7 } },
    });
    expect(agent.link.deliveries.length + other.link.deliveries.length).toBe(1);
    expect([...agent.link.cancels, ...other.link.cancels]).toEqual([]);
  });

  test("a result beyond the limit fails, and says that it was executed", async () => {
    rooms = await FakeRooms.open({ limits: { inputBytes: 1_000 } });
    agent = await rooms.join(card("a1", ["query"]));
    const reply = rooms.call({ capability: "query" });
    agent.link.next().complete("ü".repeat(600));
    expect(reply.failure).toMatchObject({ code: "PAYLOAD_TOO_LARGE", outcome: "executed", retryable: false });
    expect(agent.instance.running).toBe(0);
  });

  test("the wait is the caller's, else the capability's, else the node's", () => {
    const waits = [{ capability: "timed" }, { capability: "timed", timeoutMs: 90 }, { capability: "query" }].map(
      (e) => {
        rooms.call(e);
        return agent.link.next().envelope.timeoutMs;
      },
    );
    expect(waits).toEqual([700, 90, 30_000]);
  });

  test("DLV-13: an input that breaks the schema is sent to nobody", async () => {
    const strict = await rooms.join(
      card("a2", [{ name: "strict", inputSchema: { type: "object", required: ["id"] } }]),
    );
    const reply = rooms.call({ capability: "strict", input: {} });
    expect(reply.failure).toMatchObject({ code: "INVALID_INPUT", path: "id", outcome: "not_executed" });
    expect(strict.link.waiting).toBe(0);
    expect(rooms.calls.counts.inFlight).toBe(0);
  });

  test("dryRun decides and sends nothing", () => {
    const reply = rooms.call({ capability: "query", dryRun: true });
    expect(reply.results[0]).toMatchObject({ dryRun: true, decision: { chosen: { agentId: "a1" } } });
    expect(agent.link.deliveries).toEqual([]);
    expect(rooms.calls.counts.inFlight).toBe(0);
  });

  test("DLV-14: progress goes to the caller, from the instance that works on it and as long as it does", async () => {
    const reply = rooms.call({ capability: "query", messageId: uuid(1) });
    const delivery = agent.link.next();
    rooms.calls.progress(uuid(1), agent.registered.instanceId, '{"percent":10}');
    rooms.calls.progress(uuid(1), uuid(9), '{"percent":20}');
    delivery.complete();
    rooms.calls.progress(uuid(1), agent.registered.instanceId, '{"percent":30}');
    expect(reply.progresses).toEqual(['{"percent":10}']);
  });
});

describe("C5, DLV-7: a message that comes again", () => {
  const again = { capability: "query", input: { a: 1, b: 2 }, messageId: uuid(1) };

  test("joins the one in flight", async () => {
    const first = rooms.call(again);
    const second = rooms.call({ ...again, input: { b: 2, a: 1 } });
    agent.link.next().complete("once");
    expect([first.data, second.data]).toEqual(["once", "once"]);
    expect(agent.link.waiting).toBe(0);
  });

  test("gets the answer that was given, as long as that is remembered", async () => {
    rooms.call(again);
    agent.link.next().complete("once");
    await rooms.pass(59_000);
    expect(rooms.call(again).data).toBe("once");
    await rooms.pass(2_000);
    rooms.registry.renew(agent.instance);
    await rooms.pass(1);
    rooms.call(again);
    expect(agent.link.waiting).toBe(1);
  });

  test("is tried anew where it was not executed, but not where that is unknown", async () => {
    rooms.call(again);
    agent.link.next().refuse("NOT_NOW");
    rooms.call(again);
    expect(agent.link.waiting).toBe(1);
    await rooms.pass(5_020);
    expect(rooms.call(again).failure.code).toBe("DELIVERY_TIMEOUT");
    expect(agent.link.deliveries).toHaveLength(2);
  });

  test("gets the agent's no again, since the first one may have been lost on its way", async () => {
    const no = { code: "NO", message: "no", data: { id: 7 }, retryable: true };
    const first = rooms.call(again);
    agent.link.next().fail(no);
    await rooms.pass(59_000);
    const { code, message, retryable, outcome, details } = rooms.call(again).failure;
    expect({ code, outcome, retryable }).toEqual({ code: "AGENT_ERROR", outcome: "executed", retryable: true });
    expect([message, details]).toEqual([first.failure.message, first.failure.details]);
    expect(agent.link.deliveries).toHaveLength(1);
    await rooms.pass(2_000);
    rooms.registry.renew(agent.instance);
    rooms.call(again);
    expect(agent.link.deliveries).toHaveLength(2);
  });

  test("after the agent's no runs again under an id of its own, with the same key, and the key is what came of that", () => {
    const keyed = { ...again, idempotencyKey: "order-7" };
    rooms.call(keyed);
    agent.link.next().fail({ code: "NO" });
    const anew = rooms.call({ ...keyed, messageId: uuid(2) });
    agent.link.next().complete("yes");
    expect(anew.data).toBe("yes");
    expect(rooms.call({ ...keyed, messageId: uuid(3) }).data).toBe("yes");
    expect(rooms.call(keyed).failure.code).toBe("AGENT_ERROR");
    expect(agent.link.deliveries).toHaveLength(2);
  });

  test("is not executed again because its result was too large, under whatever id", async () => {
    rooms = await FakeRooms.open({ limits: { inputBytes: 1_000 } });
    agent = await rooms.join(card("a1", ["query"]));
    const keyed = { ...again, idempotencyKey: "order-7" };
    rooms.call(keyed);
    agent.link.next().complete("x".repeat(1_000));
    const codes = [keyed, { ...keyed, messageId: uuid(2) }].map((e) => rooms.call(e).failure.code);
    expect(codes).toEqual(["PAYLOAD_TOO_LARGE", "PAYLOAD_TOO_LARGE"]);
    expect(agent.link.deliveries).toHaveLength(1);
  });

  test("is remembered with what agents said in all their noes up to 64 million characters", () => {
    const envelopes = Array.from({ length: 70 }, (_, i) => ({ ...again, messageId: uuid(i) }));
    for (const envelope of envelopes) {
      rooms.call(envelope);
      agent.link.next().fail({ code: "NO", data: "x".repeat(1_000_000) });
    }
    expect(rooms.call(envelopes.at(-1)!).failure.code).toBe("AGENT_ERROR");
    expect(agent.link.waiting).toBe(0);
    rooms.call(envelopes[0]!);
    expect(agent.link.waiting).toBe(1);
  });

  test("is executed after a dry run under the same key", () => {
    const keyed = { ...again, idempotencyKey: "order-7" };
    rooms.call({ ...keyed, dryRun: true });
    const reply = rooms.call({ ...keyed, messageId: uuid(2) });
    agent.link.next().complete("done");
    expect(reply.data).toBe("done");
  });

  test("with other content is a conflict, and nobody else may send it", () => {
    rooms.call(again, callerOf("shop"));
    expect(rooms.call({ ...again, input: { a: 2, b: 2 } }, callerOf("shop")).failure).toMatchObject({
      code: "CONFLICT",
    });
    expect(rooms.call(again, callerOf("thief")).failure).toMatchObject({ code: "FORBIDDEN" });
    expect(agent.link.deliveries).toHaveLength(1);
  });

  test("is known by its idempotencyKey too, within its principal", () => {
    const keyed = { ...again, idempotencyKey: "order-7" };
    rooms.call(keyed, callerOf("shop"));
    const second = rooms.call({ ...keyed, messageId: uuid(2) }, callerOf("shop"));
    const other = rooms.call({ ...keyed, messageId: uuid(3) }, callerOf("other"));
    agent.link.next().complete("once");
    expect(second.data).toBe("once");
    expect(other.answers).toBe(0);
    expect(agent.link.waiting).toBe(1);
  });
});

describe("calls within calls", () => {
  test("RES-3: a nested call never outlives its parent, and carries the chain", async () => {
    const inner = await rooms.join(card("a2", ["inner"]));
    const outer = rooms.call({ capability: "query", messageId: uuid(1), timeoutMs: 5_000 }, callerOf("front"));
    agent.link.next().accept();
    await rooms.pass(2_000);
    const nested = rooms.call(
      { capability: "inner", messageId: uuid(2), parentId: uuid(1), timeoutMs: 60_000 },
      callerOf("a1"),
    );
    const { envelope } = inner.link.next();
    expect(envelope.timeoutMs).toBe(3_000);
    expect(envelope).toMatchObject({
      parentId: uuid(1),
      source: { agentId: "a1" },
      chain: [{ agentId: "front", messageId: uuid(1) }],
    });
    await rooms.pass(3_100);
    expect([outer.failure.code, nested.failure.code]).toEqual(["TIMEOUT", "DELIVERY_TIMEOUT"]);
  });

  test("RES-8: the same request within its own chain is refused", async () => {
    rooms.call({ capability: "query", input: { id: 7 }, messageId: uuid(1) });
    agent.link.next().accept();
    const nested = rooms.call({ capability: "query", input: { id: 7 }, messageId: uuid(2), parentId: uuid(1) });
    expect(nested.failure).toMatchObject({ code: "LOOP_DETECTED", outcome: "not_executed" });
    expect(rooms.call({ capability: "query", input: { id: 8 }, parentId: uuid(1) }).answers).toBe(0);
  });
});

describe("DLV-14: cancelling", () => {
  test("tells the agent, answers the caller, and frees the slot", () => {
    const reply = rooms.call({ capability: "query", messageId: uuid(1) });
    const delivery = agent.link.next();
    rooms.calls.cancel(anyone, uuid(1), "changed my mind");
    expect(reply.failure).toMatchObject({ code: "CANCELED", outcome: "unknown" });
    expect(agent.link.cancels).toMatchObject([{ messageId: uuid(1), attempt: 1 }]);
    delivery.complete();
    expect([reply.answers, agent.instance.running]).toEqual([1, 0]);
  });

  test("of one that waits for room says that nothing was executed, and takes it out of the line", async () => {
    const busy = await rooms.join(card("a2", ["one"], { maxConcurrentTasks: 1 }));
    rooms.call({ capability: "one" });
    const waiting = rooms.call({ capability: "one", messageId: uuid(2) });
    expect(rooms.admission.waiting("one")).toBe(1);
    rooms.calls.cancel(anyone, uuid(2), "enough");
    expect(waiting.failure).toMatchObject({ code: "CANCELED", outcome: "not_executed" });
    expect(rooms.admission.waiting("one")).toBe(0);
    expect(busy.link.cancels).toEqual([]);
  });

  test("is for its sender; of a settled or unknown one it changes nothing", () => {
    rooms.call({ capability: "query", messageId: uuid(1) }, callerOf("shop"));
    expect(() => rooms.calls.cancel(callerOf("thief"), uuid(1), "no")).toThrow(/FORBIDDEN/);
    agent.link.next().complete();
    expect(rooms.calls.cancel(callerOf("shop"), uuid(1), "late")).toMatchObject({ state: "settled", error: undefined });
    expect(rooms.calls.cancel(anyone, uuid(9), "what")).toBeUndefined();
  });

  test("a node that stops answers everybody who waits", () => {
    const sent = rooms.call({ capability: "query" });
    rooms.calls.stop();
    expect(sent.failure).toMatchObject({ code: "DRAINING", outcome: "unknown", retryable: false });
  });
});

/** What an idle node keeps waiting: its loops. */
async function timersOfIdleRooms(): Promise<number> {
  const idle = await FakeRooms.open();
  await idle.join(card("a1", ["query"]), { link: new FakeLink() });
  return idle.system.pending;
}
