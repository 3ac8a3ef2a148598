import { beforeEach, describe, expect, test } from "vitest";
import { accepted, cardOf, completed, failed, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { type Json, newId, type Wire } from "../kit/wire.js";

/** DLV-17: every attempt has a number; the first terminal outcome wins, and there is exactly one. */
const node = useNode({ settings: { delivery: { ackTimeoutMs: 250, backoffMs: [100, 100, 100], lostGraceMs: 200 } } });
const { bare, join } = usePeers(node);
let caller: Wire;
beforeEach(async () => {
  caller = await bare();
});
const submit = (agent: SocketAgent, more: Json = {}) =>
  caller.request("submit", { capability: agent.capability, input: 1, ...more });
const result = (messageId: string, waitMs = 6_000) => caller.request("task.result", { messageId, waitMs });

describe("complete", () => {
  test("is recorded once; repeated it is SETTLED, and may be repeated for ever", async () => {
    const agent = await join(cardOf(), () => accepted);
    const { messageId } = await submit(agent);
    const delivery = await agent.next();
    const receipt = { startedAt: "2026-01-01T00:00:00Z", steps: [1] };
    expect(await agent.complete(delivery, { ...completed("a"), receipt })).toEqual({ recorded: true });
    expect(await agent.complete(delivery, completed("a"))).toEqual({ recorded: false, reason: "SETTLED" });
    expect(await agent.complete(delivery, failed("X"))).toEqual({ recorded: false, reason: "SETTLED" });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "a", receipt });
  });

  test("of a message that nobody sent is UNKNOWN", async () => {
    const agent = await join();
    const { instanceId } = agent;
    const answer = await agent.wire.request("complete", {
      messageId: newId(),
      instanceId,
      epoch: 1,
      attempt: 1,
      ...completed(1),
    });
    expect(answer).toEqual({ recorded: false, reason: "UNKNOWN" });
  });

  test("of an attempt that never was does not settle", async () => {
    const agent = await join(cardOf(), () => accepted);
    const { messageId } = await submit(agent);
    const delivery = await agent.next();
    const answer = await agent.complete({ ...delivery, attempt: 9 }, completed("from the future"));
    expect(answer.recorded).toBe(false);
    expect((await result(messageId, 0)).state).toBe("working");
    await agent.complete(delivery, completed(1));
  });

  test("the failure of an older attempt is STALE_ATTEMPT and changes nothing", async () => {
    const agent = await join(cardOf(), ({ attempt }) => (attempt === 1 ? undefined : accepted));
    const { messageId } = await submit(agent);
    const first = await agent.next();
    const second = await agent.next((d) => d.attempt === 2);
    expect(await agent.complete(first, failed("OLD"))).toEqual({ recorded: false, reason: "STALE_ATTEMPT" });
    expect(["delivered", "working"]).toContain((await result(messageId, 0)).state);
    expect(await agent.complete(second, completed("new"))).toEqual({ recorded: true });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "new" });
  });

  test("D09: late acceptance of an older attempt changes nothing either", async () => {
    const agent = await join(cardOf(), ({ attempt }) => (attempt === 3 ? completed("third") : undefined));
    const { messageId } = await submit(agent);
    const first = await agent.next();
    await agent.next((d) => d.attempt === 2);
    agent.wire.respond(first.id, accepted);
    // Were the old acceptance counted, attempt 2 would be `working` and nothing would come again.
    expect(await result(messageId)).toMatchObject({ state: "completed", attempt: 3 });
  });

  test("the failure from an older epoch is STALE_EPOCH or STALE_ATTEMPT, its success still settles", async () => {
    const first = await join(cardOf(), () => accepted);
    const { messageId } = await submit(first);
    const delivery = await first.next();
    const second = await join(first.card, () => accepted, first.identity);
    // The newer run repeats what the older one knew, with the epoch and attempt of then.
    const refused = await first.complete(delivery, failed("OLD"), second.wire);
    expect(refused.recorded).toBe(false);
    expect(["STALE_EPOCH", "STALE_ATTEMPT"]).toContain(refused.reason);
    expect(await first.complete(delivery, completed("old but true"), second.wire)).toEqual({ recorded: true });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "old but true" });
    expect(second.registered.epoch).toBe(2);
  });

  test("another agent cannot complete what it was not given", async () => {
    const [agent, thief] = [await join(cardOf(), () => accepted), await join()];
    const { messageId } = await submit(agent);
    const delivery = await agent.next();
    const attempt = delivery.attempt;
    const stolen = await thief.wire
      .request("complete", { messageId, instanceId: thief.instanceId, epoch: 1, attempt, ...completed("stolen") })
      .catch((e: Json) => ({ recorded: false, reason: e.code }));
    expect(stolen.recorded).toBe(false);
    expect((await result(messageId, 0)).state).toBe("working");
    await agent.complete(delivery, completed("honest"));
    expect((await result(messageId)).data).toBe("honest");
  });

  test("words that are no answer to deliver are a failed attempt, not a crash (D22)", async () => {
    const agent = await join(cardOf(), ({ attempt }) => (attempt === 1 ? ("what?" as Json) : completed("better")));
    const { messageId } = await submit(agent);
    expect(["completed", "failed", "dead"]).toContain((await result(messageId)).state);
    expect((await agent.heartbeat()).state).toBe("online");
  });
});

describe("DLV-9: overdue completion", () => {
  test.each([
    ["review", "stalled"],
    ["fail", "failed"],
  ])("with onStalled %s ends up %s", async (onStalled, state) => {
    const agent = await join(cardOf(), () => accepted);
    const { messageId } = await submit(agent, { completionTimeoutMs: 300, onStalled });
    await agent.next();
    const update = await caller.request("task.result", { messageId, waitMs: 1_500 });
    expect(update.state).toBe(state);
  });

  test("with redeliver comes again as the next attempt", async () => {
    const agent = await join(cardOf(), ({ attempt }) => (attempt === 1 ? accepted : completed("again")));
    const { messageId } = await submit(agent, { completionTimeoutMs: 300, onStalled: "redeliver" });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "again" });
  });

  test("a result that comes for a stalled task settles it", async () => {
    const agent = await join(cardOf(), () => accepted);
    const { messageId } = await submit(agent, { completionTimeoutMs: 300, onStalled: "review" });
    const delivery = await agent.next();
    expect((await result(messageId, 1_500)).state).toBe("stalled");
    expect(await agent.complete(delivery, completed("better late"))).toEqual({ recorded: true });
    expect(await result(messageId)).toMatchObject({ state: "completed", data: "better late" });
  });
});
