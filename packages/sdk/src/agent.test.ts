import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer, gate, silence } from "../../../test/kit/fake-peer.js";
import { AgentError, Overloaded } from "./agent-error.js";
import { sdkLimits } from "./limits.js";
import type { SavedIdentity } from "./platform.js";

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

  it("acknowledges a slow handler first and completes later, until the node answers (DLV-3)", async () => {
    const peer = new FakePeer();
    const work = gate();
    const { session, registered } = await peer.agent({ query_order: () => work.opened });
    const envelope = peer.envelope();
    const answer = session.request("deliver", { envelope, attempt: 2 });
    await peer.advance(100);
    expect((await answer)["result"]).toEqual({ status: "accepted" });
    let refusals = 2;
    peer.answers["complete"] = () => {
      if (refusals-- > 0) throw new ReachError("NOT_READY", "disk");
      return { recorded: true };
    };
    work.open("done");
    await peer.advance(5_000);
    const completes = session.of("complete");
    expect(completes).toHaveLength(3);
    expect(completes[2]!["params"]).toMatchObject({
      messageId: envelope["messageId"],
      instanceId: registered.instanceId,
      epoch: 1,
      attempt: 2,
      status: "completed",
      data: "done",
    });
  });

  it("answers business errors, other errors and refusals each in its way", async () => {
    const peer = new FakePeer();
    const { session } = await peer.agent({
      business: () => {
        throw new AgentError("ORDER_NOT_FOUND", "no such order", { data: { id: 1 }, retryable: false });
      },
      broken: async () => {
        throw new TypeError("x is not a function");
      },
      odd: () => Promise.reject("just text"),
      full: () => {
        throw new Overloaded({ retryAfterMs: 70 });
      },
    });
    const ask = async (capability: string) =>
      session.request("deliver", { envelope: peer.envelope({ capability }), attempt: 1 });
    expect((await ask("business"))["result"]).toMatchObject({
      status: "failed",
      error: { code: "ORDER_NOT_FOUND", message: "no such order", data: { id: 1 }, retryable: false },
    });
    const broken = (await ask("broken"))["result"];
    expect(broken).toMatchObject({
      status: "failed",
      error: { code: "INTERNAL_ERROR", message: "x is not a function" },
    });
    expect(JSON.stringify(broken)).not.toContain("agent.test");
    expect((await ask("odd"))["result"].error.message).toBe("just text");
    expect((await ask("full"))["error"]).toMatchObject({
      code: -32013,
      data: { code: "OVERLOADED", retryAfterMs: 70, outcome: "not_executed" },
    });
    expect((await ask("unheard_of"))["error"].data).toMatchObject({ code: "NO_ROUTE", outcome: "not_executed" });
  });

  it("turns a result that JSON cannot carry into a failure that names the path, and stays up", async () => {
    const peer = new FakePeer();
    const results: unknown[] = [{ rows: [{ n: 1n }] }, new Map(), { f: () => 1 }, undefined, { at: new Date(0) }];
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    results.push(cyclic);
    const { session } = await peer.agent({ query_order: (input: number) => results[input] });
    const answers = [];
    for (let input = 0; input < results.length; input++) {
      answers.push((await session.request("deliver", { envelope: peer.envelope({ input }), attempt: 1 }))["result"]);
    }
    expect(answers[0]).toMatchObject({
      status: "failed",
      error: { code: "RESULT_NOT_SERIALIZABLE", data: { path: "rows[0].n" } },
    });
    expect(answers[1].error.data.path).toBe("$");
    expect(answers[2].error.data.path).toBe("f");
    expect(answers[3]).toMatchObject({ status: "completed", data: null });
    expect(answers[4]).toMatchObject({ status: "completed", data: { at: "1970-01-01T00:00:00.000Z" } });
    expect(answers[5]).toMatchObject({ status: "failed", error: { code: "RESULT_NOT_SERIALIZABLE" } });
  });

  it("turns a result over the limit into a failure with advice (DLV-12)", async () => {
    const peer = new FakePeer();
    peer.limits = { ...peer.limits, maxInputBytes: 1_000 };
    const { session } = await peer.agent({ query_order: () => "x".repeat(2_000) });
    const { result } = await session.request("deliver", { envelope: peer.envelope(), attempt: 1 });
    expect(result).toMatchObject({ status: "failed", error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it("registers the same instance again in the next session, before anything else (LIVE-9)", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const { client, registered } = await peer.agent({ query_order: () => 1 });
    void client.callSync({ capability: "other", timeoutMs: 60_000 });
    await peer.settle();
    const session = await peer.bounce();
    expect(session.frames.map((frame) => frame["method"]).slice(0, 3)).toEqual(["hello", "register", "call"]);
    expect(session.of("register")[0]!["params"]).toMatchObject({
      instanceId: registered.instanceId,
      instanceKey: "k".repeat(32),
    });
    expect(client.registered?.epoch).toBe(2);
  });

  it("registers afresh when the node says that the instance is not its own to take", async () => {
    const peer = new FakePeer();
    const { registered } = await peer.agent({});
    let refusals = 1;
    peer.answers["register"] = (params) => {
      if (refusals-- > 0) throw new ReachError("FORBIDDEN", "not yours");
      return peer.registered(params);
    };
    const session = await peer.bounce();
    const [first, second] = session.of("register").map(({ params }) => params.instanceId);
    expect(first).toBe(registered.instanceId);
    expect(second).not.toBe(first);
  });

  it("waits for a node that is not ready, and rejects start when the card is refused", async () => {
    const peer = new FakePeer();
    let refusals = 3;
    peer.answers["register"] = (params) => {
      if (refusals-- > 0) throw new ReachError("NOT_READY", "loading");
      return peer.registered(params);
    };
    const client = peer.client();
    await client.register({ agentId: "a" });
    const started = client.start();
    await peer.advance(5_000);
    expect(await started).toMatchObject({ agentId: "a" });
    peer.answers["register"] = () => {
      throw new ReachError("INVALID_CARD", "bad", { path: "agentId" });
    };
    const other = peer.client();
    await other.register({ agentId: "b" });
    await expect(other.start()).rejects.toMatchObject({ code: "INVALID_CARD", path: "agentId" });
  });

  it("sends a changed card at once, as an update of the same instance", async () => {
    const peer = new FakePeer();
    const { client, registered } = await peer.agent({});
    const updated = await client.register({ agentId: "order-agent-01", description: "new" });
    expect(updated?.instanceId).toBe(registered.instanceId);
    expect(peer.session.of("register")[1]!["params"].card.description).toBe("new");
  });

  it("keeps its identity in a state file over restarts", async () => {
    const peer = new FakePeer();
    let saved: SavedIdentity | undefined;
    const store = {
      load: () => saved,
      save: (identity: SavedIdentity) => {
        saved = identity;
      },
    };
    const first = peer.client({}, store);
    await first.register({ agentId: "a" });
    const { instanceId } = await first.start();
    await first.close();
    const second = peer.client({}, store);
    await second.register({ agentId: "a" });
    expect((await second.start()).instanceId).toBe(instanceId);
    expect(peer.session.of("register")[0]!["params"].instanceKey).toBe("k".repeat(32));
    const other = peer.client({}, store);
    await other.register({ agentId: "b" });
    expect((await other.start()).instanceId).not.toBe(instanceId);
  });

  it("beats with its load while a handler is busy, and registers again when it is unknown (LIVE-3, LIVE-4)", async () => {
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
    peer.answers["heartbeat"] = () => ({ state: "unknown" });
    await peer.advance(15_100);
    expect(session.of("register")).toHaveLength(2);
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

  it("runs no more than maxConcurrentTasks, keeps a few waiting, and refuses beyond", async () => {
    const peer = new FakePeer();
    const works: { open: (value: unknown) => void }[] = [];
    const handler = () => {
      const work = gate();
      works.push(work);
      return work.opened;
    };
    const { session } = await peer.agent({ query_order: handler }, { maxConcurrentTasks: 2 });
    const answers = Array.from({ length: 19 }, () =>
      session.request("deliver", { envelope: peer.envelope(), attempt: 1 }),
    );
    await peer.settle();
    expect(works).toHaveLength(2);
    expect((await answers[18]!)["error"].data).toMatchObject({ code: "OVERLOADED" });
    works[0]!.open(1);
    await peer.settle();
    expect(works).toHaveLength(3);
  });
});

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

describe("dedupe", () => {
  it("gives a success again without executing, also under another messageId with the same key (DLV-7)", async () => {
    const peer = new FakePeer();
    let runs = 0;
    const { session } = await peer.agent({ query_order: () => ++runs });
    const envelope = peer.envelope({ idempotencyKey: "order-7" });
    const first = await session.request("deliver", { envelope, attempt: 1 });
    const again = await session.request("deliver", { envelope, attempt: 2 });
    const other = await session.request("deliver", {
      envelope: { ...envelope, messageId: peer.system.newId() },
      attempt: 1,
    });
    expect([first, again, other].map(({ result }) => result.data)).toEqual([1, 1, 1]);
    const foreign = { ...envelope, messageId: peer.system.newId(), input: { order_id: "2" } };
    expect((await session.request("deliver", { envelope: foreign, attempt: 1 }))["result"].data).toBe(2);
  });

  it("attaches a redelivery to what runs, and the newest attempt gets the answer (DLV-7)", async () => {
    const peer = new FakePeer();
    const work = gate();
    let runs = 0;
    const { session } = await peer.agent({
      query_order: () => {
        runs++;
        return work.opened;
      },
    });
    const envelope = peer.envelope();
    const first = session.request("deliver", { envelope, attempt: 1 });
    const second = session.request("deliver", { envelope, attempt: 2 });
    await peer.settle();
    expect((await first)["result"]).toEqual({ status: "accepted" });
    work.open("result");
    expect((await second)["result"]).toMatchObject({ status: "completed", data: "result" });
    expect(runs).toBe(1);
  });

  it("runs again what failed", async () => {
    const peer = new FakePeer();
    let runs = 0;
    const { session } = await peer.agent({
      query_order: () => {
        if (++runs === 1) throw new Error("first time");
        return runs;
      },
    });
    const envelope = peer.envelope();
    expect((await session.request("deliver", { envelope, attempt: 1 }))["result"].status).toBe("failed");
    expect((await session.request("deliver", { envelope, attempt: 2 }))["result"]).toMatchObject({
      status: "completed",
      data: 2,
    });
  });

  it("attaches over a reconnect too: one execution, the answer goes to the new attempt", async () => {
    const peer = new FakePeer();
    const work = gate();
    let runs = 0;
    await peer.agent({
      query_order: () => {
        runs++;
        return work.opened;
      },
    });
    const envelope = peer.envelope();
    void peer.session.request("deliver", { envelope, attempt: 1 });
    await peer.advance(100);
    const session = await peer.bounce();
    const answer = session.request("deliver", { envelope, attempt: 2 });
    await peer.settle();
    work.open("late");
    expect((await answer)["result"]).toMatchObject({ status: "completed", data: "late" });
    expect(runs).toBe(1);
    expect(session.of("complete")).toHaveLength(0);
  });
});

describe("outbox", () => {
  it("repeats by complete what it gave as an answer when the socket broke before any later answer (DLV-11)", async () => {
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

describe("drain", () => {
  it("takes nothing new, gives back what is not started, finishes and confirms the rest, then says goodbye (LIVE-8)", async () => {
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

  it("waits for the confirmation of results given as answers", async () => {
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
