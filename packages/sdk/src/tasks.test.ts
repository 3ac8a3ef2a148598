import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer, silence } from "../../../test/kit/fake-peer.js";
import type { Dial } from "./transport.js";

const settled = (messageId: string, more: object = {}) => ({
  messageId,
  traceId: "t",
  kind: "task",
  state: "completed",
  data: 5,
  attempts: [],
  ...more,
});

describe("tasks", () => {
  it("is accepted by the node's word and settled by its update, which is acknowledged (DLV-2)", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = ({ messageId, traceId }) => ({ messageId, traceId, state: "queued", duplicate: false });
    const client = peer.client();
    const updates: unknown[] = [];
    client.on("task", ({ state }) => updates.push(state));
    const task = client.submit({ capability: "batch", input: 1, onStalled: "fail" });
    const results: unknown[] = [];
    task.onResult(({ data }) => results.push(data));
    expect(await task.accepted).toMatchObject({ ok: true, state: "queued", duplicate: false });
    expect(peer.session.of("submit")[0]!["params"]).toMatchObject({ capability: "batch", input: 1, onStalled: "fail" });
    const answer = await peer.session.request("task.update", settled(task.messageId));
    expect(answer["result"]).toEqual({});
    expect(await task.result()).toMatchObject({ done: true, state: "completed", data: 5, ok: true });
    await peer.settle();
    expect(results).toEqual([5]);
    expect(updates).toEqual(["completed"]);
    expect(peer.session.of("task.result")).toHaveLength(0);
  });

  it("knows a task by its id in either case, as the node does", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = ({ messageId }) => ({ messageId, state: "queued", duplicate: false });
    const messageId = "0199A5C2-6F0E-7C11-9B1E-2F0D5A7C1E42";
    const client = peer.client();
    const submitted = client.submit({ capability: "batch", messageId });
    await submitted.accepted;
    await peer.session.request("task.update", settled(messageId.toLowerCase()));
    expect(await submitted.result()).toMatchObject({ data: 5 });
    const followed = client.task(messageId).result();
    await peer.session.request("task.update", settled(messageId.toLowerCase(), { data: 6 }));
    expect(await followed).toMatchObject({ data: 6 });
  });

  it("asks for the result when no update comes, and again after an interruption", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = ({ messageId }) => ({ messageId, state: "queued", duplicate: false });
    let asked = 0;
    peer.answers["task.result"] = ({ messageId }) => {
      if (++asked === 1) throw new ReachError("NOT_READY", "loading", { retryAfterMs: 500 });
      return settled(messageId);
    };
    const result = peer.client().submit({ capability: "batch" }).result();
    await peer.advance(4_000);
    expect(asked).toBe(0);
    await peer.advance(3_000);
    expect(await result).toMatchObject({ data: 5 });
    expect(asked).toBe(2);
  });

  it("keeps the process alive while somebody waits for a result, and no longer", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = ({ messageId }) => ({ messageId, state: "queued", duplicate: false });
    let held: boolean | undefined;
    const hold = (on: boolean) => {
      held = on;
    };
    const transport: Dial = (url, events) => Object.assign(peer.dial(url, events), { hold });
    const task = peer.client({ transport }).submit({ capability: "batch" });
    await task.accepted;
    expect(held).toBe(false);
    const result = task.result();
    expect(held).toBe(true);
    await peer.session.request("task.update", settled(task.messageId));
    await result;
    expect(held).toBe(false);
  });

  it("T04: does not take the end of a wait for the end of the task", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = ({ messageId }) => ({ messageId, state: "queued", duplicate: false });
    peer.answers["task.result"] = ({ messageId }) => settled(messageId, { state: "working", data: undefined });
    const task = peer.client().submit({ capability: "batch" });
    const waited = task.result(2_000);
    await peer.advance(2_100);
    const seen = await waited;
    expect(seen).toMatchObject({ done: false, state: "working", errorCode: undefined });
    expect(() => seen.orThrow()).toThrow("still working");
    void peer.session.request("task.update", settled(task.messageId));
    expect(await task.result(2_000)).toMatchObject({ done: true, data: 5 });
  });

  it("looks at once for the result of a duplicate, whose update goes to whoever was first (DLV-7)", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = () => ({ messageId: "first", state: "completed", duplicate: true });
    peer.answers["task.result"] = ({ messageId }) => settled(messageId);
    const outcome = await peer.client().submit({ capability: "batch", idempotencyKey: "k" }).result();
    expect(outcome).toMatchObject({ messageId: "first", data: 5 });
  });

  it("returns a refused submit and a failed task as values", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = () => {
      throw new ReachError("NO_ROUTE", "nobody offers this");
    };
    const client = peer.client();
    const refused = client.submit({ capability: "none" });
    expect(await refused.accepted).toMatchObject({ errorCode: "NO_ROUTE" });
    expect(await refused.result()).toMatchObject({ done: true, errorCode: "NO_ROUTE" });
    expect(await client.submit({ capability: "x", input: 1n }).accepted).toMatchObject({
      errorCode: "INVALID_INPUT",
      path: "input",
    });
    peer.answers["submit"] = ({ messageId }) => ({ messageId, state: "queued", duplicate: false });
    const failed = client.callAsync({ capability: "batch" }, { durable: true });
    await failed.accepted;
    const error = {
      code: "AGENT_ERROR",
      message: "no",
      retryable: false,
      outcome: "executed",
      details: { code: "SOLD_OUT" },
    };
    void peer.session.request("task.update", settled(failed.messageId, { state: "failed", data: undefined, error }));
    expect(await failed.result()).toMatchObject({
      errorCode: "AGENT_ERROR",
      details: { code: "SOLD_OUT" },
      outcome: "executed",
    });
  });

  it("repeats an unanswered submit after a reconnect, under the same messageId (DLV-11)", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = () => silence;
    const task = peer.client().submit({ capability: "batch" });
    await peer.settle();
    peer.answers["submit"] = ({ messageId }) => ({ messageId, state: "queued", duplicate: false });
    const session = await peer.bounce();
    expect(session.of("submit")[0]!["params"].messageId).toBe(task.messageId);
    expect(await task.accepted).toMatchObject({ ok: true });
  });

  it("asks at once after a reconnect, since the update may have gone elsewhere meanwhile (DLV-11)", async () => {
    const peer = new FakePeer();
    peer.answers["submit"] = ({ messageId }) => ({ messageId, state: "queued", duplicate: false });
    peer.answers["task.result"] = ({ messageId }) => settled(messageId);
    const task = peer.client({ reconnect: { minMs: 1, maxMs: 1 } }).submit({ capability: "batch" });
    const result = task.result();
    await task.accepted;
    peer.session.close(1006);
    await peer.advance(50);
    expect(await result).toMatchObject({ data: 5 });
  });

  it("acknowledges and shows the outcome of a task that another process submitted", async () => {
    const peer = new FakePeer();
    const client = peer.client();
    const seen: string[] = [];
    client.on("task", ({ messageId }) => seen.push(messageId));
    await client.connect();
    expect((await peer.session.request("task.update", settled("foreign")))["result"]).toEqual({});
    expect(seen).toEqual(["foreign"]);
  });

  it("asks the node for status, events and cancel", async () => {
    const peer = new FakePeer();
    peer.answers["task.get"] = ({ messageId }) => settled(messageId, { state: "queued" });
    peer.answers["task.cancel"] = ({ messageId }) => settled(messageId, { state: "canceled" });
    peer.answers["task.events"] = ({ after }) => ({ events: [{ id: after + 1 }] });
    const task = peer.client().task("some-id");
    expect((await task.status()).state).toBe("queued");
    expect((await task.cancel("why")).state).toBe("canceled");
    expect((await task.events(7)).events).toEqual([{ id: 8 }]);
    expect(peer.session.of("task.cancel")[0]!["params"]).toEqual({ messageId: "some-id", reason: "why" });
  });
});
