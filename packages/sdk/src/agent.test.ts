import { describe, expect, it } from "vitest";
import { FakePeer, gate } from "../../../test/kit/fake-peer.js";

describe("agent", () => {
  it("takes no work before start, registers in start, and answers fast handlers in one frame (SDK-8, DLV-3)", async () => {
    const peer = new FakePeer();
    const client = peer.client();
    await client.register({ agentId: "order-agent-01", capabilities: ["query_order"], shade: "blue" });
    client.onCapability("query_order", (input: { order_id: string }) => ({ status: "shipped", id: input.order_id }));
    await client.connect();
    expect(peer.session.of("register")).toHaveLength(0);
    const early = await peer.session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    expect(early["error"].data).toMatchObject({ outcome: "not_executed" });
    await client.start();
    expect(peer.session.of("register")[0]!["params"].card).toMatchObject({
      shade: "blue",
      capabilities: [{ name: "query_order" }],
    });
    const { result } = await peer.session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    expect(result).toMatchObject({ status: "completed", data: { status: "shipped", id: "1" }, receipt: { bytes: 29 } });
    expect(result.receipt.finishedAt).toMatch(/Z$/);
  });

  it("beats with its load while a handler is busy, and registers again when it is unknown (LIVE-3, LIVE-4, P06)", async () => {
    const peer = new FakePeer();
    const work = gate();
    const { session, client } = await peer.agent({ query_order: () => work.opened });
    void session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    await peer.advance(31_000);
    expect(session.of("heartbeat").map(({ params }) => params.load)).toEqual([
      { running: 1, queued: 0 },
      { running: 1, queued: 0 },
    ]);
    client.report({ health: 0.5, facts: { p50LatencyMs: 9 } });
    await peer.settle();
    expect(session.of("heartbeat")[2]!["params"]).toMatchObject({ health: 0.5, facts: { p50LatencyMs: 9 } });
    expect(() => client.report({ health: Number.NaN })).toThrow(/^\[INVALID_REQUEST\] health is NaN/);
    expect(() => client.report({ facts: { load: Number.POSITIVE_INFINITY } })).toThrow(/facts\.load is Infinity/);
    peer.answers["heartbeat"] = () => ({ state: "unknown" });
    await peer.advance(15_100);
    expect(session.of("register")).toHaveLength(2);
  });

  it("acknowledges before the handler begins when told so, since a handler that blocks would keep it back (LIVE-4)", async () => {
    const peer = new FakePeer();
    const order: string[] = [];
    const work = () => {
      order.push("handler");
      return { status: "shipped" };
    };
    const { session } = await peer.agent({ query_order: work }, {}, { ackAfterMs: 0 });
    const envelope = peer.envelope();
    const { result } = await session.request("deliver", { envelope, attempt: 1 });
    expect(result).toEqual({ status: "accepted" });
    expect(order).toEqual([]);
    // The same message again meanwhile starts nothing, and is answered with the result.
    const again = session.request("deliver", { envelope, attempt: 2 });
    const other = peer.envelope();
    void session.request("deliver", { envelope: other, attempt: 1 });
    await peer.advance(1);
    expect(order).toEqual(["handler", "handler"]);
    expect((await again)["result"]).toMatchObject({ status: "completed", data: { status: "shipped" } });
    expect(session.of("complete").map(({ params }) => params)).toMatchObject([
      { messageId: other["messageId"], attempt: 1, status: "completed" },
    ]);
  });

  it("never dials again after 4001, says superseded, and aborts what runs", async () => {
    const peer = new FakePeer();
    const reasons: unknown[] = [];
    const { client, session } = await peer.agent({
      query_order: (_, { signal }) => {
        signal.addEventListener("abort", () => reasons.push((signal.reason as { reason: string }).reason));
        return gate().opened;
      },
    });
    void session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    await peer.settle();
    const states: string[] = [];
    client.on("state", ({ state }) => states.push(state));
    session.close(4001, "superseded");
    await peer.advance(600_000);
    expect(peer.sessions).toHaveLength(1);
    expect(states).toEqual(["superseded"]);
    expect(reasons).toEqual(["lost"]);
    await expect(client.connect()).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: false });
    expect(await client.callSync({ capability: "x" })).toMatchObject({ errorCode: "UNAVAILABLE", retryable: false });
  });
});
