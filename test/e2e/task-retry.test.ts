import { beforeEach, describe, expect, test } from "vitest";
import { accepted, cardOf, completed, echo, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, Refusal, type Wire } from "../kit/wire.js";
import { eventually } from "../kit/within.js";

const node = useNode({
  settings: { delivery: { ackTimeoutMs: 250, backoffMs: [100, 200, 300], lostGraceMs: 200, lossesMax: 3 } },
});
const { bare, join } = usePeers(node);
let caller: Wire;
beforeEach(async () => {
  caller = await bare();
});
const submit = (agent: SocketAgent, more: Json = {}) =>
  caller.request("submit", { capability: agent.capability, input: 1, ...more });
const result = (messageId: string) => caller.request("task.result", { messageId, waitMs: 9_000 }, 12_000);

describe("DLV-4: no acknowledgement", () => {
  test("is delivered again with the next attempt number until somebody takes it", async () => {
    const agent = await join(cardOf(), ({ attempt }) => (attempt < 3 ? undefined : completed("third")));
    const { messageId } = await submit(agent);
    const task = await result(messageId);
    expect(task).toMatchObject({ state: "completed", data: "third", attempt: 3 });
    expect(task.attempts.map((a: Json) => a.attempt)).toEqual([1, 2, 3]);
    const sent = task.attempts.map((a: Json) => Date.parse(a.sentAt));
    // The ack timeout and the backoff lie between: at least the timeout. How the waits grow is shown on fake time.
    expect(sent[1] - sent[0]).toBeGreaterThanOrEqual(240);
    expect(sent[2] - sent[1]).toBeGreaterThanOrEqual(240);
  });

  test("after three retries is dead with DELIVERY_TIMEOUT, and the caller is told", async () => {
    const agent = await join(cardOf(), () => undefined);
    const { messageId } = await submit(agent);
    const task = await result(messageId);
    expect(task).toMatchObject({ state: "dead", attempt: 4, error: { code: "DELIVERY_TIMEOUT", outcome: "unknown" } });
    expect(task.attempts).toHaveLength(4);
    expect(await caller.nextNotification("task.update", (t) => t.messageId === messageId)).toMatchObject({
      state: "dead",
    });
  });

  test("DLV-17: the late success of an older attempt settles it, and the newer attempt is cancelled", async () => {
    const agent = await join(cardOf(), ({ attempt }) => (attempt === 1 ? undefined : accepted));
    const { messageId } = await submit(agent);
    const first = await agent.next();
    await agent.next((d) => d.attempt === 2);
    expect(await agent.complete(first, completed("slow but right"))).toEqual({ recorded: true });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "slow but right" });
    await agent.wire.nextNotification("cancel", (c) => c.messageId === messageId && c.attempt === 2);
  });
});

describe("DLV-5: refusals", () => {
  test("OVERLOADED goes to another instance and spends no attempt of the four", async () => {
    const card = cardOf();
    const refusing = await join(card, () => {
      throw new Refusal("OVERLOADED", -32013, 30_000);
    });
    const { messageId } = await submit(refusing);
    await refusing.next();
    const willing = await join(card);
    expect(await result(messageId)).toMatchObject({ state: "completed", instanceId: willing.instanceId });
  });

  test("busy agents queue: never more at once than they take, all done in the end", async () => {
    let running = 0;
    let most = 0;
    const agent = await join(cardOf({ maxConcurrentTasks: 2 }), async ({ envelope }) => {
      most = Math.max(most, ++running);
      await agent.heartbeat();
      running--;
      return completed(envelope.input);
    });
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, input) => submit(agent, { input }).then((s) => s.messageId)),
    );
    for (const messageId of ids) expect((await result(messageId)).state).toBe("completed");
    expect(most).toBe(2);
  });
});

describe("DLV-8: an instance that dies with a task in hand", () => {
  test("its task goes to its next run, before new work", async () => {
    const card = cardOf({ maxConcurrentTasks: 1 });
    const first = await join(card, () => accepted);
    const lost = await submit(first, { input: "lost" });
    await first.next();
    const later = await submit(first, { input: "later" });
    first.cut();
    // The node waits a moment for the instance to come back with its result; then the task is anybody's.
    await eventually(
      () => caller.request("task.get", { messageId: lost.messageId }),
      (task) => task.state === "queued",
      "the lost task to be queued again",
    );
    const next = await join(card);
    expect((await next.next()).envelope).toMatchObject({ messageId: lost.messageId, input: "lost" });
    expect((await next.next()).envelope.messageId).toBe(later.messageId);
    expect(await result(lost.messageId)).toMatchObject({ state: "completed", attempt: 2 });
  });

  test("is redelivered to another of the group", async () => {
    const card = cardOf();
    const dying = await join(card, () => accepted);
    const { messageId } = await submit(dying);
    await dying.next();
    const heir = await join(card);
    dying.cut();
    expect(await result(messageId)).toMatchObject({ state: "completed", instanceId: heir.instanceId });
  });

  test("R06: a task that kills every instance which takes it is dead after the losses that are allowed", async () => {
    const card = cardOf();
    const { messageId } = await join(card, () => undefined).then(async (agent) => {
      const submitted = await submit(agent);
      await agent.next();
      agent.cut();
      return submitted;
    });
    let deliveries = 1;
    const over = result(messageId);
    const ended = over.then(() => true);
    while (deliveries < 10) {
      const victim = await join(card, () => accepted);
      const next = await Promise.race([
        victim.next((d) => d.envelope.messageId === messageId, 10_000).catch(() => undefined),
        ended,
      ]);
      victim.cut();
      if (next === true || next === undefined) break;
      deliveries++;
    }
    expect(await over).toMatchObject({ state: "dead" });
    expect(deliveries).toBeLessThanOrEqual(4);
    expect(deliveries).toBeGreaterThanOrEqual(3);
  });
});

describe("DLV-5: an agent that is away", () => {
  test("its tasks are parked, spend no attempt, and come on its return in order, before new work", async () => {
    const card = cardOf({ maxConcurrentTasks: 1 });
    const agent = await join(card);
    await agent.deregister();
    agent.cut();
    const parked: string[] = [];
    for (let n = 0; n < 3; n++) parked.push((await submit(agent, { input: n })).messageId);
    expect(await caller.request("task.get", { messageId: parked[0] })).toMatchObject({
      state: "queued",
      attempt: 0,
      attempts: [],
    });
    const back = await join(card, echo, agent.identity);
    const fresh = (await submit(agent, { input: "new" })).messageId;
    const order = [];
    for (let n = 0; n < 4; n++) order.push((await back.next()).envelope.messageId);
    expect(order).toEqual([...parked, fresh]);
    for (const messageId of parked) expect(await result(messageId)).toMatchObject({ state: "completed", attempt: 1 });
  });

  test("until the task's own deadline: then it is dead", async () => {
    const agent = await join();
    await agent.deregister();
    const { messageId } = await submit(agent, { deadlineMs: 300 });
    expect(await result(messageId)).toMatchObject({ state: "dead", attempt: 0, error: { outcome: "not_executed" } });
  });
});

describe("DLV-20: what is asked of a messageId", () => {
  test("that is no UUID is refused by its path", async () => {
    const agent = await join();
    expect(await caller.refused("submit", { messageId: "7", capability: agent.capability, input: 1 })).toMatchObject({
      code: "INVALID_REQUEST",
      data: { path: "messageId" },
    });
    expect((await submit(agent, { messageId: newId().toUpperCase() })).duplicate).toBe(false);
  });
});
