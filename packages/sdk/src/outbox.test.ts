import { describe, expect, it } from "vitest";
import { FakePeer, gate, silence } from "../../../test/kit/fake-peer.js";
import { sdkLimits } from "./limits.js";

describe("outbox", () => {
  it("C04: repeats by complete what it gave as an answer when the socket broke before any later answer (DLV-11)", async () => {
    const peer = new FakePeer();
    const { session } = await peer.agent({ query_order: () => "kept" });
    const envelope = peer.envelope();
    await session.request("deliver", { envelope, attempt: 1 });
    const next = await peer.bounce();
    expect(next.of("complete")[0]!["params"]).toMatchObject({
      messageId: envelope["messageId"],
      attempt: 1,
      epoch: 2,
      data: "kept",
    });
    const third = await peer.bounce();
    expect(third.of("complete")).toHaveLength(0);
  });

  it("asks for a confirmation, and repeats nothing after it", async () => {
    const peer = new FakePeer();
    const { session } = await peer.agent({ query_order: () => 1 });
    await session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    await peer.advance(1_100);
    expect(session.of("ping")).toHaveLength(1);
    for (let i = 0; i < sdkLimits.confirmEvery; i++)
      void session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    await peer.settle();
    expect(session.of("ping")).toHaveLength(2);
    const next = await peer.bounce();
    expect(next.of("complete")).toHaveLength(0);
  });

  it("is not confirmed by an answer to what was asked before the result was given", async () => {
    const peer = new FakePeer();
    const asked = gate();
    peer.answers["discover"] = () => asked.opened;
    const { client, session } = await peer.agent({ query_order: () => "kept" });
    const discovered = client.discover({ capability: "x" });
    await peer.settle();
    await session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    asked.open({ candidates: [] });
    await discovered;
    expect((await peer.bounce()).of("complete")).toHaveLength(1);
  });

  it("hands over what was finished while the node was away (LIVE-9)", async () => {
    const peer = new FakePeer();
    const work = gate();
    const { session } = await peer.agent({ query_order: () => work.opened });
    void session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    await peer.advance(100);
    peer.up = false;
    session.close(1006);
    await peer.settle();
    work.open("offline");
    await peer.advance(3_600_000);
    peer.up = true;
    await peer.advance(30_000);
    expect(peer.session.of("complete")[0]!["params"]).toMatchObject({ data: "offline", status: "completed" });
  });

  it("turns a result for which the node closes the socket into a failure, instead of sending it for ever", async () => {
    const peer = new FakePeer();
    const work = gate();
    const { session } = await peer.agent({ query_order: () => work.opened });
    void session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    await peer.advance(100);
    peer.answers["complete"] = () => silence;
    work.open("x".repeat(1_000));
    await peer.settle();
    peer.answers["complete"] = () => ({ recorded: true });
    const next = await peer.bounce(1009);
    expect(next.of("complete").map(({ params }) => params.error?.code)).toEqual(["PAYLOAD_TOO_LARGE"]);
  });
});
