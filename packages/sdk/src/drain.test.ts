import { describe, expect, it } from "vitest";
import { FakePeer, gate, silence } from "../../../test/kit/fake-peer.js";

describe("drain", () => {
  it("S01: takes nothing new, gives back what is not started, finishes and confirms the rest, then says goodbye (LIVE-8)", async () => {
    const peer = new FakePeer();
    const work = gate();
    const { client, session } = await peer.agent({ query_order: () => work.opened }, { maxConcurrentTasks: 1 });
    const running = peer.envelope();
    const waiting = peer.envelope();
    const fresh = peer.envelope();
    void session.request("deliver", { envelope: running, attempt: 1 });
    void session.request("deliver", { envelope: waiting, attempt: 4 });
    await peer.advance(100);
    const unacknowledged = session.request("deliver", { envelope: fresh, attempt: 1 });
    await peer.settle();
    const drained = client.drain();
    expect(client.state).toBe("draining");
    await peer.settle();
    expect((await unacknowledged)["error"].data).toMatchObject({ code: "DRAINING", outcome: "not_executed" });
    const refused = await session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    expect(refused["error"].data.code).toBe("DRAINING");
    expect(session.of("drain")[0]!["params"].handback).toEqual([{ messageId: waiting["messageId"], attempt: 4 }]);
    expect(session.of("deregister")).toHaveLength(0);
    await peer.advance(3_000);
    work.open("finished");
    await drained;
    const methods = session.frames
      .map(({ method }) => method)
      .filter((method) => ["drain", "complete", "deregister"].includes(method));
    expect(methods).toEqual(["drain", "complete", "deregister"]);
    expect(session.of("complete")[0]!["params"]).toMatchObject({ messageId: running["messageId"], data: "finished" });
    await peer.settle();
    expect(session.closedWith).toBe(1000);
    expect(client.state).toBe("closed");
  });

  it("S05: waits for the confirmation of results given as answers", async () => {
    const peer = new FakePeer();
    const { client, session } = await peer.agent({ query_order: () => 1 });
    await session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    peer.answers["drain"] = () => silence;
    const confirmed = gate();
    peer.answers["ping"] = () => confirmed.opened;
    const drained = client.drain({ timeoutMs: 5_000 });
    await peer.advance(4_000);
    expect(session.of("deregister")).toHaveLength(0);
    confirmed.open({});
    await peer.advance(2_000);
    await drained;
    expect(session.of("deregister")).toHaveLength(1);
  });

  it("leaves after its time even if a handler never ends, and aborts that handler", async () => {
    const peer = new FakePeer();
    let reason: unknown;
    const { client, session } = await peer.agent({
      query_order: (_, { signal }) => {
        signal.addEventListener("abort", () => {
          reason = (signal.reason as { reason: string }).reason;
        });
        return gate().opened;
      },
    });
    void session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    await peer.settle();
    const drained = client.drain({ timeoutMs: 2_000 });
    await peer.advance(2_100);
    await drained;
    expect(reason).toBe("drain");
    expect(session.of("deregister")).toHaveLength(1);
  });

  it("ends too when the node is away", async () => {
    const peer = new FakePeer();
    const { client } = await peer.agent({ query_order: () => 1 });
    peer.up = false;
    peer.session.close(1006);
    await peer.settle();
    const drained = client.drain({ timeoutMs: 2_000 });
    await peer.advance(2_200);
    await drained;
    expect(client.state).toBe("closed");
    expect(peer.system.pending).toBe(0);
  });
});
