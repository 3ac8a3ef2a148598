import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer } from "../../../test/kit/fake-peer.js";

describe("handler context", () => {
  it("tells the message, and keeps trace, parent and remaining time in nested calls (SDK-3)", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = ({ input }) => ({ data: { priced: input } });
    const seen: Record<string, unknown>[] = [];
    const { session } = await peer.agent({
      query_order: async (_, context) => {
        seen.push({
          ...context.source,
          attempt: context.attempt,
          key: context.idempotencyKey,
          session: context.sessionRef,
        });
        const nested = await context.call({ capability: "price", input: 1, timeoutMs: 999_999 });
        context.log.info("asked the price");
        return nested.orThrow();
      },
    });
    const envelope = peer.envelope({ sessionRef: "chat-1", timeoutMs: 4_000 });
    const { result } = await session.request("deliver", { envelope, attempt: 3 });
    expect(result.data).toEqual({ priced: 1 });
    expect(seen).toEqual([{ agentId: "pre-sale", attempt: 3, key: envelope["messageId"], session: "chat-1" }]);
    const nested = session.of("call")[0]!["params"];
    expect(nested).toMatchObject({ traceId: envelope["traceId"], parentId: envelope["messageId"], timeoutMs: 4_000 });
    expect(nested.messageId).not.toBe(envelope["messageId"]);
    expect(peer.logged.find(({ message }) => message === "asked the price")?.fields).toMatchObject({
      traceId: envelope["traceId"],
      agentId: "order-agent-01",
    });
  });

  it("publishes on behalf of its message: same trace, this message as parent (SDK-3, DLV-16)", async () => {
    const peer = new FakePeer();
    peer.answers["publish"] = ({ groupId }) => ({ groupId, deliveries: 2 });
    const { session } = await peer.agent({
      query_order: async (input, context) => {
        const group = context.publish({ topic: "orders.seen", input, deadlineMs: 60_000 });
        return (await group.accepted).orThrow();
      },
    });
    const envelope = peer.envelope();
    const { result } = await session.request("deliver", { envelope, attempt: 1 });
    const { groupId, ...published } = session.of("publish")[0]!["params"];
    expect(result.data).toEqual({ groupId, deliveries: 2 });
    const { input, traceId, messageId: parentId } = envelope;
    expect(published).toEqual({ topic: "orders.seen", input, deadlineMs: 60_000, traceId, parentId });
  });

  it("passes a failed nested call on as a business error with its code", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => {
      throw new ReachError("UNAVAILABLE", "nobody");
    };
    const { session } = await peer.agent({
      query_order: async (_, context) => (await context.call({ capability: "p" })).orThrow(),
    });
    const { result } = await session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    expect(result).toMatchObject({ status: "failed", error: { code: "UNAVAILABLE", retryable: true } });
  });

  it("aborts its signal at the deadline and on cancel, not on words about an older attempt (DLV-14)", async () => {
    const peer = new FakePeer();
    const reasons: string[] = [];
    const handler = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push((signal.reason as { reason: string }).reason);
          reject(signal.reason);
        });
      });
    const { session } = await peer.agent({ query_order: handler });
    const envelope = peer.envelope();
    void session.request("deliver", { envelope, attempt: 2 });
    await peer.advance(100);
    session.notify("cancel", { messageId: envelope["messageId"], attempt: 1, reason: "old" });
    await peer.settle();
    expect(reasons).toEqual([]);
    session.notify("cancel", { messageId: envelope["messageId"], attempt: 2, reason: "by the caller" });
    await peer.settle();
    expect(reasons).toEqual(["cancel"]);
    expect(session.of("complete")[0]!["params"]).toMatchObject({ status: "failed", error: { code: "CANCELED" } });
    void session.request("deliver", { envelope: peer.envelope({ timeoutMs: 700 }), attempt: 1 });
    await peer.advance(800);
    expect(reasons).toEqual(["cancel", "deadline"]);
  });

  it("streams progress with message and attempt (DLV-14)", async () => {
    const peer = new FakePeer();
    const { session, registered } = await peer.agent({
      query_order: (_, context) => {
        context.progress({ percent: 50, data: { part: 1 } });
        return 1;
      },
    });
    const envelope = peer.envelope();
    await session.request("deliver", { envelope, attempt: 1 });
    expect(session.of("progress")[0]!["params"]).toEqual({
      messageId: envelope["messageId"],
      instanceId: registered.instanceId,
      attempt: 1,
      percent: 50,
      data: { part: 1 },
    });
  });
});
