import { describe, expect, test } from "vitest";
import { cardOf, completed, failed } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json, Wire } from "../kit/wire.js";

/** DLV-11: the submitter is told of every terminal state until it says that it heard. */
const node = useNode({ settings: { delivery: { ackTimeoutMs: 300, backoffMs: [100, 100, 100] } } });
const { bare, join } = usePeers(node);
const mute = (wire: Wire): Json[] => {
  const heard: Json[] = [];
  wire.handle("task.update", (params) => {
    heard.push(params);
    wire.notifications.put({ method: "task.update", params });
    return undefined;
  });
  return heard;
};

describe("DLV-11: task.update", () => {
  test("tells the submitter the end of a task, without its input", async () => {
    const agent = await join(cardOf(), () => completed({ total: 3 }));
    const caller = await bare();
    const { messageId, traceId } = await caller.request("submit", {
      capability: agent.capability,
      input: { secret: 1 },
    });
    const update = await caller.nextNotification("task.update");
    expect(update).toMatchObject({
      messageId,
      traceId,
      kind: "task",
      state: "completed",
      data: { total: 3 },
      attempt: 1,
    });
    expect(update).not.toHaveProperty("input");
  });

  test.each([
    ["failed", (): Json => failed("NO")],
    ["canceled", (): Json | undefined => undefined],
  ])("tells %s", async (state, handler) => {
    const agent = await join(cardOf(), handler);
    const caller = await bare();
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: 1 });
    await agent.next();
    if (state === "canceled") await caller.request("task.cancel", { messageId });
    expect(await caller.nextNotification("task.update")).toMatchObject({ messageId, state });
  });

  test("once acknowledged does not come again", async () => {
    const agent = await join();
    const caller = await bare();
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: 1 });
    await caller.nextNotification("task.update");
    await caller.close();
    const next = await bare({ hello: { resume: { sessionId: caller.session.sessionId } } });
    const fence = await next.request("submit", { capability: agent.capability, input: 2 });
    expect((await next.nextNotification("task.update")).messageId).toBe(fence.messageId);
    expect(next.notifications.untaken.filter((n) => n.params.messageId === messageId)).toEqual([]);
  });

  test("that was not acknowledged comes again to the resumed session", async () => {
    const agent = await join();
    const caller = await bare();
    mute(caller);
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: 1 });
    await caller.nextNotification("task.update");
    caller.cut();
    const next = await bare({ hello: { resume: { sessionId: caller.session.sessionId } } });
    expect(await next.nextNotification("task.update")).toMatchObject({ messageId, state: "completed" });
  });

  test("of a task that ended while the submitter was away comes when it is back", async () => {
    const agent = await join(cardOf(), () => undefined);
    const caller = await bare();
    const { messageId } = await caller.request("submit", { capability: agent.capability, input: 1 });
    const delivery = await agent.next();
    caller.cut();
    agent.wire.respond(delivery.id, completed("meanwhile"));
    const next = await bare({ hello: { resume: { sessionId: caller.session.sessionId } } });
    expect(await next.nextNotification("task.update")).toMatchObject({ messageId, data: "meanwhile" });
  });

  test("goes to the next session of the same principal if the submitter's is gone, also after a restart of the node", async () => {
    const worker = await join(cardOf(), () => undefined);
    const submitter = await join();
    const { messageId } = await submitter.wire.request("submit", { capability: worker.capability, input: 1 });
    mute(submitter.wire);
    const delivery = await worker.next();
    worker.wire.respond(delivery.id, completed("for the principal"));
    await submitter.wire.nextNotification("task.update");
    await node().restart("SIGKILL");
    const other = await join();
    const again = await join(submitter.card);
    expect(await again.wire.nextNotification("task.update")).toMatchObject({
      messageId,
      state: "completed",
      data: "for the principal",
    });
    expect(other.wire.notifications.untaken.filter((n) => n.params?.messageId === messageId)).toEqual([]);
  });
});
