import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer, silence } from "../../../test/kit/fake-peer.js";

describe("calls", () => {
  it("opens one socket for a thousand clients of one identity, and closes it with the last (SDK-8)", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = ({ input }) => ({ data: input });
    const clients = Array.from({ length: 1_000 }, () => peer.client());
    const outcomes = await Promise.all(clients.map((client, i) => client.callSync({ capability: "x", input: i })));
    expect(outcomes.map(({ data }) => data)).toEqual(clients.map((_, i) => i));
    expect(peer.sessions).toHaveLength(1);
    for (const client of clients.slice(1)) await client.close();
    await peer.settle();
    expect(peer.session.closedWith).toBeUndefined();
    await clients[0]!.close();
    await peer.settle();
    expect(peer.session.closedWith).toBe(1000);
  });

  it("does not share a connection between identities", async () => {
    const peer = new FakePeer();
    await Promise.all([
      peer.client({ token: "a" }).connect(),
      peer.client({ token: "b" }).connect(),
      peer.client({ name: "c" }).connect(),
    ]);
    expect(peer.sessions).toHaveLength(3);
  });

  it("returns every remote failure with code, outcome and retryable, and throws it only from orThrow (SDK-7)", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => {
      throw new ReachError("BUSY", "all full", { retryAfterMs: 40, details: { queue: 256 } });
    };
    const outcome = await peer.client().callSync({ capability: "x" });
    expect(outcome).toMatchObject({
      ok: false,
      errorCode: "BUSY",
      retryable: true,
      retryAfterMs: 40,
      outcome: "not_executed",
      details: { queue: 256 },
    });
    expect(outcome.data).toBeUndefined();
    expect(() => outcome.orThrow()).toThrow(expect.objectContaining({ code: "BUSY", retryAfterMs: 40 }));
  });

  it("keeps a code it does not know and believes what came with it", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = (_, session) => {
      session.send({
        id: session.frames.at(-1)!["id"],
        error: { code: -32099, message: "m", data: { code: "TOO_SHINY", retryable: true, outcome: "not_executed" } },
      });
      return silence;
    };
    const outcome = await peer.client().callSync({ capability: "x" });
    expect(outcome).toMatchObject({ errorCode: "TOO_SHINY", retryable: true, outcome: "not_executed" });
    expect(() => outcome.orThrow()).toThrow("TOO_SHINY");
  });

  it("gives its messages UUIDs of version 7 and a trace, and keeps the caller's own", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => ({ data: 1 });
    const client = peer.client();
    const made = client.callAsync({ capability: "x" });
    expect(made.messageId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(made.traceId).toMatch(/^[0-9a-f]{32}$/);
    const own = await client.callSync({ capability: "x", messageId: made.messageId, traceId: "ab".repeat(16) });
    expect(own).toMatchObject({ messageId: made.messageId, traceId: "ab".repeat(16) });
    expect(peer.session.of("call")[0]!["params"]).toMatchObject({ messageId: made.messageId, traceId: made.traceId });
  });

  it("P06: refuses what JSON cannot carry by its path, without sending it", async () => {
    const peer = new FakePeer();
    const client = peer.client();
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    for (const [input, path] of [
      [{ a: [{ b: 1n }] }, "input.a[0].b"],
      [{ f: () => 1 }, "input.f"],
      [[new Map()], "input[0]"],
      [{ rows: [{ score: Number.NaN }] }, "input.rows[0].score"],
      [[1, Number.NEGATIVE_INFINITY], "input[1]"],
    ] as const) {
      expect(await client.callSync({ capability: "x", input })).toMatchObject({
        errorCode: "INVALID_INPUT",
        path,
        outcome: "not_executed",
      });
    }
    expect(await client.callSync({ capability: "x", input: cyclic })).toMatchObject({ errorCode: "INVALID_INPUT" });
    expect(await client.callSync({ capability: "x", timeoutMs: Number.NaN })).toMatchObject({
      errorCode: "INVALID_REQUEST",
      path: "timeoutMs",
    });
    expect(await client.callSync({ capability: "x", messageId: '","capability":"y' })).toMatchObject({
      errorCode: "INVALID_REQUEST",
      path: "messageId",
    });
    expect(peer.sessions).toHaveLength(0);
  });

  it("sends what the input was when the call was made, also when it is repeated", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const input = { n: 1 };
    void peer.client().callSync({ capability: "x", input, timeoutMs: 60_000 });
    input.n = 2;
    await peer.settle();
    await peer.bounce();
    expect(peer.session.of("call")[0]!["params"].input).toEqual({ n: 1 });
  });

  it("returns a handle at once, with progress, callback, poll and cancel (SDK-2, DLV-14)", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    peer.answers["task.cancel"] = () => ({});
    const client = peer.client();
    const seen: unknown[] = [];
    const handle = client
      .callAsync({ capability: "x", timeoutMs: 5_000 })
      .onProgress(({ percent }) => seen.push(percent));
    handle.onResult(({ errorCode }) => seen.push(errorCode));
    expect(handle.poll()).toBeUndefined();
    await peer.settle();
    peer.session.notify("progress", { messageId: handle.messageId, percent: 40 });
    peer.session.notify("progress", { messageId: client.callAsync({ capability: "y" }).messageId, percent: 99 });
    await peer.settle();
    handle.cancel("changed my mind");
    await peer.settle();
    expect(peer.session.of("task.cancel")[0]!["params"]).toEqual({
      messageId: handle.messageId,
      reason: "changed my mind",
    });
    const id = peer.session.of("call")[0]!["id"];
    peer.session.send({ id, error: new ReachError("CANCELED", "by the caller").toRpc() });
    expect(await handle.result).toMatchObject({ errorCode: "CANCELED" });
    await peer.settle();
    expect(handle.poll()).toMatchObject({ errorCode: "CANCELED" });
    expect(seen).toEqual([40, "CANCELED"]);
  });

  it("lets the node's own word about the deadline come first, and answers itself when there is none", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const client = peer.client();
    const answered = client.callSync({ capability: "x", timeoutMs: 1_000 });
    const silent = client.callSync({ capability: "y", timeoutMs: 1_000 });
    await peer.advance(1_500);
    const id = peer.session.of("call")[0]!["id"];
    peer.session.send({ id, error: new ReachError("UNAVAILABLE", "nobody").toRpc() });
    expect(await answered).toMatchObject({ errorCode: "UNAVAILABLE" });
    await peer.advance(1_000);
    expect(await silent).toMatchObject({ errorCode: "TIMEOUT", outcome: "unknown" });
  });

  it("leaves the deadline to the node when the caller names none, however long that is", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const called = peer.client().callSync({ capability: "slow" });
    await peer.advance(180_000);
    const frame = peer.session.of("call")[0]!;
    expect(frame["params"]).not.toHaveProperty("timeoutMs");
    peer.session.send({ id: frame["id"], result: { data: "late" } });
    expect(await called).toMatchObject({ data: "late" });
  });

  it("lists all pages of the online agents of a capability", async () => {
    const peer = new FakePeer();
    peer.answers["agents.list"] = ({ cursor }) =>
      cursor ? { agents: [{ agentId: "b" }] } : { agents: [{ agentId: "a" }], cursor: "2" };
    const found = await peer.client().listOnlineAgentsByCapability("x");
    expect(found.map(({ agentId }) => agentId)).toEqual(["a", "b"]);
    expect(peer.session.of("agents.list")[0]!["params"]).toMatchObject({ state: "online", capability: "x" });
  });

  it("fails what is under way when it is closed, and refuses what comes after", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const client = peer.client();
    const called = client.callSync({ capability: "x" });
    await peer.settle();
    await client.close();
    expect(await called).toMatchObject({ errorCode: "CANCELED", outcome: "unknown" });
    expect(() => client.callSync({ capability: "x" })).toThrow("closed");
  });
});
