import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer, silence } from "../../../test/kit/fake-peer.js";

describe("connection", () => {
  it("C10, S08: keeps trying when the node is down at first, says so meanwhile, and connects when it appears (LIVE-9)", async () => {
    const peer = new FakePeer();
    peer.up = false;
    const client = peer.client();
    const states: string[] = [];
    client.on("state", ({ state }) => states.push(state));
    const connected = client.connect();
    await peer.advance(60_000);
    expect(states).toContain("waiting");
    expect(peer.dials.length).toBeGreaterThan(5);
    peer.up = true;
    await peer.advance(10_000);
    await connected;
    expect(client.state).toBe("online");
    expect(states.at(-1)).toBe("online");
  });

  it("C11: tries every address in turn", async () => {
    const peer = new FakePeer();
    peer.up = false;
    void peer.client({ registryUrl: ["a:1", "http://b:2"] }).connect();
    await peer.advance(1_000);
    expect(peer.dials.slice(0, 3).map(({ url }) => url)).toEqual([
      "ws://a:1/registry",
      "ws://b:2/registry",
      "ws://a:1/registry",
    ]);
  });

  it("C02, S08: lets the backoff grow while sockets open and hello is refused, and caps it", async () => {
    const peer = new FakePeer();
    peer.answers["hello"] = () => {
      throw new ReachError("NOT_READY", "loading");
    };
    void peer.client().connect();
    await peer.advance(600_000);
    const gaps = peer.dials.slice(1).map((dial, i) => dial.atMs - peer.dials[i]!.atMs);
    expect(gaps.length).toBeLessThan(250);
    expect(Math.max(...gaps)).toBeGreaterThan(5_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(8_000);
  });

  it("C02: does not begin the backoff anew after a session that was not stable, and does after one that was", async () => {
    const peer = new FakePeer();
    await peer.client().connect();
    // Every session is lost as soon as it stands.
    const hello = peer.answers["hello"]!;
    peer.answers["hello"] = (params, session) => {
      queueMicrotask(() => queueMicrotask(() => session.close(1006)));
      return hello(params, session);
    };
    peer.session.close(1006);
    await peer.advance(300_000);
    const gaps = peer.dials.slice(1).map((dial, i) => dial.atMs - peer.dials[i]!.atMs);
    expect(gaps.length).toBeLessThan(150);
    expect(Math.max(...gaps)).toBeGreaterThan(5_000);
    peer.answers["hello"] = hello;
    await peer.advance(40_000);
    const dials = peer.dials.length;
    peer.session.close(1006);
    await peer.advance(100);
    expect(peer.dials.length).toBe(dials + 1);
  });

  it("waits at least as long as a refused hello asks", async () => {
    const peer = new FakePeer();
    peer.answers["hello"] = () => {
      throw new ReachError("RATE_LIMITED", "too many", { retryAfterMs: 5_000 });
    };
    void peer.client().connect();
    await peer.advance(4_999);
    expect(peer.dials.length).toBe(1);
    await peer.advance(2);
    expect(peer.dials.length).toBe(2);
  });

  it("tells a wrong token at once to connect and to calls", async () => {
    const peer = new FakePeer();
    peer.answers["hello"] = () => {
      throw new ReachError("UNAUTHENTICATED", "unknown token");
    };
    const client = peer.client({ token: "wrong" });
    const called = client.callSync({ capability: "x" });
    await expect(client.connect()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(await called).toMatchObject({ errorCode: "UNAUTHENTICATED", outcome: "not_executed" });
  });

  it("C02: resumes with the sessionId and repeats an unanswered call with its messageId and the time that is left (DLV-11)", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const client = peer.client();
    const called = client.callSync({ capability: "x", input: { a: 1 }, timeoutMs: 20_000 });
    await peer.advance(2_000);
    const first = peer.session.of("call")[0]!["params"];
    peer.answers["call"] = ({ messageId }) => ({ messageId, traceId: "t", data: 7, agentId: "a", instanceId: "i" });
    await peer.bounce();
    expect(peer.session.of("hello")[0]!["params"].resume).toEqual({ sessionId: "session-1" });
    const again = peer.session.of("call")[0]!["params"];
    expect({ ...again, timeoutMs: 0 }).toEqual({ ...first, timeoutMs: 0 });
    expect(first.timeoutMs).toBe(20_000);
    expect(again.timeoutMs).toBeLessThanOrEqual(18_000);
    expect(await called).toMatchObject({ data: 7, ok: true });
  });

  it("does not repeat a call that was sent to a node which forgot the session, and says that nothing is known (DLV-11)", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const client = peer.client();
    const sent = client.callSync({ capability: "pay", timeoutMs: 20_000 });
    await peer.settle();
    peer.up = false;
    peer.session.close(1006);
    await peer.settle();
    const unsent = client.callSync({ capability: "look", timeoutMs: 20_000 });
    const task = client.submit({ capability: "ship", timeoutMs: 20_000 });
    peer.up = true;
    peer.remembers = false;
    peer.answers["call"] = ({ messageId }) => ({ messageId, data: "done" });
    peer.answers["submit"] = ({ messageId }) => ({ messageId, state: "queued", duplicate: false });
    await peer.advance(2_000);
    expect(await sent).toMatchObject({
      errorCode: "DELIVERY_TIMEOUT",
      outcome: "unknown",
      retryable: false,
      errorMessage: expect.stringMatching(/restarted.*idempotent.*submit a task/),
    });
    expect(await unsent).toMatchObject({ data: "done" });
    expect(await task.accepted).toMatchObject({ ok: true });
    expect(peer.session.of("call").map(({ params }) => params.capability)).toEqual(["look"]);
  });

  it("repeats a submit and a question also to a node which forgot the session (DLV-11)", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = () => silence;
    peer.answers["discover"] = () => silence;
    const client = peer.client();
    const task = client.submit({ capability: "ship", timeoutMs: 20_000 });
    const found = client.discover({ capability: "ship" });
    await peer.settle();
    const { messageId } = peer.session.of("submit")[0]!["params"];
    peer.remembers = false;
    peer.answers["submit"] = (params) => ({ messageId: params["messageId"], state: "queued", duplicate: true });
    peer.answers["discover"] = () => ({ candidates: [], verdict: "no_match" });
    await peer.bounce();
    expect(await task.accepted).toMatchObject({ ok: true, messageId });
    expect(await found).toMatchObject({ verdict: "no_match" });
  });

  it("does not repeat it either when the forgetful session is lost before it stood and then resumed", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const { client } = await peer.agent({ x: () => 1 });
    const called = client.callSync({ capability: "pay", timeoutMs: 60_000 });
    await peer.settle();
    peer.remembers = false;
    const { register } = peer.answers;
    peer.answers["register"] = () => silence;
    await peer.bounce();
    expect(client.state).toBe("dialing");
    peer.remembers = true;
    peer.answers["register"] = register!;
    await peer.bounce();
    expect(client.state).toBe("online");
    expect(peer.session.of("call")).toEqual([]);
    expect(await called).toMatchObject({ errorCode: "DELIVERY_TIMEOUT", outcome: "unknown" });
  });

  it("asks after a minute of silence and gives up a half-open socket (LIVE-5)", async () => {
    const peer = new FakePeer();
    const client = peer.client();
    await client.connect();
    await peer.advance(60_100);
    expect(peer.session.of("ping")).toHaveLength(1);
    peer.answers["ping"] = () => silence;
    await peer.advance(72_000);
    expect(peer.session.of("ping")).toHaveLength(2);
    expect(peer.sessions).toHaveLength(1);
    await peer.advance(10_000);
    expect(peer.sessions).toHaveLength(2);
    expect(client.state).toBe("online");
  });

  it("C11: gives up a dial that neither opens nor fails", async () => {
    const peer = new FakePeer();
    peer.answers["hello"] = () => silence;
    void peer.client({ connectTimeoutMs: 3_000 }).connect();
    await peer.advance(3_300);
    expect(peer.dials.length).toBeGreaterThan(1);
  });

  it("C06: refuses a message over the limit by itself and sends the small ones (DLV-12)", async () => {
    const peer = new FakePeer();
    peer.limits = { ...peer.limits, maxMessageBytes: 1_000 };
    peer.answers["call"] = ({ messageId }) => ({ messageId, data: "ok" });
    const client = peer.client();
    await client.connect();
    const big = client.callSync({ capability: "x", input: "é".repeat(600) });
    const small = client.callSync({ capability: "x", input: "e".repeat(600) });
    expect(await big).toMatchObject({ errorCode: "PAYLOAD_TOO_LARGE", outcome: "not_executed", retryable: false });
    expect(await small).toMatchObject({ data: "ok" });
    expect(peer.session.of("call")).toHaveLength(1);
  });

  it("C06: does not send a message for ever when the node closes over its size, and the others go on", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const client = peer.client();
    const big = client.callSync({ capability: "x", input: "b".repeat(5_000) });
    const small = client.callSync({ capability: "x", input: "s" });
    await peer.settle();
    peer.answers["call"] = ({ messageId }) => ({ messageId, data: "ok" });
    await peer.bounce(1009);
    expect(await big).toMatchObject({ errorCode: "PAYLOAD_TOO_LARGE" });
    expect(await small).toMatchObject({ data: "ok" });
    expect(peer.session.of("call")).toHaveLength(1);
  });

  it("says not_executed for a call that was never sent, and unknown for one that was", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const client = peer.client();
    const sent = client.callSync({ capability: "x", timeoutMs: 3_000 });
    await peer.settle();
    peer.up = false;
    peer.session.close(1006);
    await peer.settle();
    const unsent = client.callSync({ capability: "x", timeoutMs: 2_000 });
    await peer.advance(4_000);
    expect(await sent).toMatchObject({ errorCode: "UNAVAILABLE", outcome: "unknown" });
    expect(await unsent).toMatchObject({ errorCode: "UNAVAILABLE", outcome: "not_executed", retryable: true });
  });

  it("refuses an unknown method by name, ignores an unknown notification and unknown fields (SDK-10)", async () => {
    const peer = new FakePeer();
    const hello = peer.answers["hello"]!;
    peer.answers["hello"] = (params, session) => ({ ...(hello(params, session) as object), novelty: { deep: [1] } });
    const client = peer.client();
    await client.connect();
    peer.session.notify("rumour", { text: "?" });
    const refused = await peer.session.request("dance", {});
    expect(refused["error"]).toMatchObject({ code: -32601, data: { code: "INVALID_REQUEST" } });
    expect(refused["error"].message).toContain("dance");
    expect((await peer.session.request("ping", { extra: 1 }))["result"]).toEqual({});
  });

  it("survives frames that are not JSON-RPC", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => ({ data: 1 });
    const client = peer.client();
    await client.connect();
    for (const text of ["", "{", "null", "[]", '"x"', '{"id":99999,"result":1}', '{"error":{"code":-32700}}'])
      peer.session.wire.send(text);
    expect(await client.callSync({ capability: "x" })).toMatchObject({ data: 1 });
  });

  it("answers from an older socket reach nobody, and leave no timers once closed", async () => {
    const peer = new FakePeer();
    const client = peer.client();
    await client.connect();
    await client.close();
    await peer.settle();
    expect(client.state).toBe("closed");
    expect(peer.session.closedWith).toBe(1000);
    expect(peer.system.pending).toBe(0);
  });
});
