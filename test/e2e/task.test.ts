import { beforeEach, describe, expect, test } from "vitest";
import { accepted, cardOf, completed, failed, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";
import { eventually } from "../kit/within.js";

const node = useNode();
const { bare, join } = usePeers(node);
let caller: Wire;
beforeEach(async () => {
  caller = await bare();
});
const submit = (agent: SocketAgent, more: Json = {}, by: Wire = caller) =>
  by.request("submit", { capability: agent.capability, input: 1, ...more });
const result = (messageId: string, waitMs = 6_000) =>
  caller.request("task.result", { messageId, waitMs }, waitMs + 3_000);

describe("DLV-2: submit", () => {
  test("is answered with the ids and a state, and the task completes", async () => {
    const agent = await join();
    const answer = await submit(agent, { input: { a: 1 } });
    expect(answer).toMatchObject({
      messageId: expect.any(String),
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      duplicate: false,
    });
    expect(["queued", "delivered", "working", "completed"]).toContain(answer.state);
    const task = await result(answer.messageId);
    expect(task).toMatchObject({
      messageId: answer.messageId,
      traceId: answer.traceId,
      kind: "task",
      state: "completed",
      capability: agent.capability,
      agentId: agent.agentId,
      instanceId: agent.instanceId,
      attempt: 1,
      input: { a: 1 },
      data: { a: 1 },
      createdAt: expect.stringMatching(/T/),
      deadlineAt: expect.stringMatching(/T/),
    });
    expect(task.attempts).toMatchObject([
      { attempt: 1, instanceId: agent.instanceId, sentAt: expect.stringMatching(/T/), outcome: "completed" },
    ]);
    expect((await agent.next()).envelope).toMatchObject({ kind: "task", messageId: answer.messageId });
  });

  test("is refused with NO_ROUTE for a capability which nobody ever offered, and INVALID_INPUT before anything is stored", async () => {
    const messageId = newId();
    expect(await caller.refused("submit", { messageId, capability: "never_offered", input: 1 })).toMatchObject({
      code: "NO_ROUTE",
      rpc: -32010,
      data: { details: { reason: "unknown_capability" } },
    });
    expect(await caller.refused("task.get", { messageId })).toMatchObject({ code: "NOT_FOUND" });
    const strict = await join(cardOf({ capability: { inputSchema: { type: "object" } } }));
    expect(await caller.refused("submit", { messageId, capability: strict.capability, input: 1 })).toMatchObject({
      code: "INVALID_INPUT",
    });
  });

  test("survives the restart of the node", async () => {
    const agent = await join(cardOf(), () => accepted);
    const { messageId } = await submit(agent, { input: "durable" });
    const delivery = await agent.next();
    await node().restart("SIGKILL");
    caller = await bare();
    expect(await caller.request("task.get", { messageId })).toMatchObject({ messageId, input: "durable" });
    // The agent stayed alive: it comes back and hands in its result for the attempt it had.
    const back = await join(agent.card, () => accepted, agent.identity);
    expect(
      (
        await back.wire.request("complete", {
          messageId,
          instanceId: agent.instanceId,
          attempt: delivery.attempt,
          ...completed("made it"),
        })
      ).recorded,
    ).toBe(true);
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "made it" });
  });

  test("waits until notBefore", async () => {
    const agent = await join();
    const notBefore = new Date(Date.now() + 700).toISOString();
    const { messageId, state } = await submit(agent, { notBefore });
    expect(state).toBe("queued");
    const task = await result(messageId);
    expect(Date.parse(task.attempts[0].sentAt)).toBeGreaterThanOrEqual(Date.parse(notBefore));
  });
});

describe("DLV-7: a repeated submit", () => {
  test("is a duplicate of the first, running or done, and is executed once", async () => {
    const agent = await join(cardOf(), () => undefined);
    const params = { messageId: newId(), capability: agent.capability, input: { a: 1 } };
    expect((await caller.request("submit", params)).duplicate).toBe(false);
    expect(await caller.request("submit", params)).toMatchObject({ messageId: params.messageId, duplicate: true });
    const delivery = await agent.next();
    agent.wire.respond(delivery.id, completed("once"));
    expect((await result(params.messageId)).data).toBe("once");
    expect(await caller.request("submit", params)).toMatchObject({ duplicate: true, state: "completed" });
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("by idempotencyKey answers the first one's messageId", async () => {
    const agent = await join();
    const idempotencyKey = `order-${newId()}`;
    const first = await submit(agent, { idempotencyKey });
    const second = await submit(agent, { idempotencyKey });
    expect(second).toMatchObject({ messageId: first.messageId, duplicate: true });
  });

  test("D19, D20: with other content is CONFLICT", async () => {
    const agent = await join();
    const { messageId } = await submit(agent, { input: 1 });
    expect(await caller.refused("submit", { messageId, capability: agent.capability, input: 2 })).toMatchObject({
      code: "CONFLICT",
    });
  });

  test("numbers that differ only beyond 2^53 are other content", async () => {
    const agent = await join();
    const messageId = newId();
    const params = (n: string) => `{"messageId":"${messageId}","capability":"${agent.capability}","input":${n}}`;
    expect((await caller.exchange("submit", params("9007199254740993"))).json.error).toBeUndefined();
    expect((await caller.exchange("submit", params("9007199254740992"))).json.error?.data.code).toBe("CONFLICT");
  });

  test("a messageId belongs to its principal: nobody else reads, cancels or repeats it", async () => {
    const [worker, mine, theirs] = [await join(), await join(), await join()];
    const { messageId } = await submit(worker, {}, mine.wire);
    for (const method of ["task.get", "task.result", "task.cancel", "task.events"]) {
      expect(await theirs.wire.refused(method, { messageId })).toMatchObject({
        code: "FORBIDDEN",
        rpc: -32003,
        data: { retryable: false },
      });
    }
    const repeat = { messageId, capability: worker.capability, input: 1 };
    expect(await theirs.wire.refused("submit", repeat)).toMatchObject({ code: "FORBIDDEN" });
  });
});

describe("DLV-15: following a task", () => {
  test("D02, T04: task.result waits no longer than waitMs, and answers at once when it is over", async () => {
    const agent = await join(cardOf(), () => undefined);
    const { messageId } = await submit(agent);
    expect(["queued", "delivered", "working"]).toContain((await result(messageId, 50)).state);
    expect(["queued", "delivered", "working"]).toContain((await caller.request("task.result", { messageId })).state);
    const waiting = result(messageId);
    agent.wire.respond((await agent.next()).id, completed("now"));
    expect(await waiting).toMatchObject({ state: "completed", data: "now" });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "now" });
  });

  test("is working after `accepted`", async () => {
    const agent = await join(cardOf(), () => accepted);
    const { messageId } = await submit(agent);
    const delivery = await agent.next();
    // Nobody is told when the receipt is on disk; the task shows it from then on.
    const task = await eventually(
      () => caller.request("task.get", { messageId }),
      ({ state }) => state === "working",
      "the task to be at work",
    );
    expect(task.attempts).toMatchObject([{ attempt: 1, acceptedAt: expect.any(String) }]);
    await agent.complete(delivery, completed(1));
  });

  test("D02: of an unknown messageId is NOT_FOUND by every method", async () => {
    for (const method of ["task.get", "task.result", "task.cancel", "task.events"]) {
      expect(await caller.refused(method, { messageId: newId() })).toMatchObject({ code: "NOT_FOUND", rpc: -32024 });
      expect(await caller.refused(method, { messageId: "no-uuid" })).toMatchObject({
        code: "INVALID_REQUEST",
        data: { path: "messageId" },
      });
    }
  });

  test("DLV-18: D01, D02: events are ordered by id, readable after completion, and resume after an id", async () => {
    const agent = await join();
    const { messageId } = await submit(agent);
    await result(messageId);
    const { events } = await caller.request("task.events", { messageId });
    expect(events.length).toBeGreaterThanOrEqual(3);
    const ids = events.map((e: Json) => e.id);
    expect(ids).toEqual([...new Set<number>(ids)].sort((a, b) => a - b));
    for (const event of events)
      expect(event).toMatchObject({ at: expect.stringMatching(/T/), type: expect.any(String) });
    const rest = await caller.request("task.events", { messageId, after: ids[1] });
    expect(rest.events.map((e: Json) => e.id)).toEqual(ids.slice(2));
  });

  test("DLV-18: progress is an event of the task and reaches the submitter", async () => {
    const agent = await join(cardOf(), () => accepted);
    const { messageId } = await submit(agent);
    const delivery = await agent.next();
    agent.wire.notify("progress", {
      messageId,
      instanceId: agent.instanceId,
      attempt: 1,
      percent: 30,
      message: "a third",
    });
    expect(await caller.nextNotification("progress")).toMatchObject({ messageId, percent: 30 });
    await agent.complete(delivery, completed(1));
    await result(messageId);
    const { events } = await caller.request("task.events", { messageId });
    expect(events.map((e: Json) => e.type)).toContain("progress");
  });
});

describe("DLV-14: cancel", () => {
  test("of a running task ends it, tells the agent, and a late result changes nothing (D25)", async () => {
    const agent = await join(cardOf(), () => accepted);
    const { messageId } = await submit(agent);
    const delivery = await agent.next();
    expect(await caller.request("task.cancel", { messageId, reason: "not needed" })).toMatchObject({
      messageId,
      state: "canceled",
    });
    expect(await agent.wire.nextNotification("cancel")).toMatchObject({ messageId, attempt: 1 });
    expect(await agent.complete(delivery, completed("late"))).toEqual({ recorded: false, reason: "SETTLED" });
    expect(await result(messageId)).toMatchObject({ state: "canceled", error: { code: "CANCELED" } });
  });

  test("of a finished task leaves it as it is", async () => {
    const agent = await join();
    const { messageId } = await submit(agent);
    await result(messageId);
    expect(await caller.request("task.cancel", { messageId })).toMatchObject({ state: "completed" });
  });
});

describe("DLV-5: a business error of a task", () => {
  test("fails it without a retry, with the agent's words", async () => {
    const agent = await join(cardOf(), () => failed("NO_STOCK", "sold out"));
    const { messageId } = await submit(agent);
    const task = await result(messageId);
    expect(task).toMatchObject({
      state: "failed",
      attempt: 1,
      error: { code: "AGENT_ERROR", outcome: "executed", details: { code: "NO_STOCK" } },
    });
    await agent.next();
    expect(agent.deliveries.untaken).toEqual([]);
  });
});

describe("DLV-10: tasks of one order", () => {
  test("go in the order of their numbers, one after another, and wait for one that is missing", async () => {
    const agent = await join(cardOf(), () => accepted);
    const ordering = { key: newId(), mode: "sequence" };
    const numbered = (sequence: number) => submit(agent, { ordering, sequence, input: sequence });
    await numbered(1);
    const first = await agent.next();
    // All that comes while the first is under way waits; what was sent last goes first.
    for (const n of [4, 3]) await numbered(n);
    await agent.complete(first, completed(1));
    await numbered(2);
    for (const n of [2, 3, 4]) {
      const next = await agent.next();
      expect(next.envelope).toMatchObject({ sequence: n, input: n });
      await agent.complete(next, completed(n));
    }
  });
});
