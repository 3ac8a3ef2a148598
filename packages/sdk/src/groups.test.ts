import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer, silence } from "../../../test/kit/fake-peer.js";

const none = { queued: 0, delivered: 0, working: 0, completed: 0, failed: 0, canceled: 0, dead: 0, stalled: 0 };
const groupOf = (groupId: string, counts: Partial<typeof none>, settled = true) => ({
  groupId,
  total: Object.values(counts).reduce((sum, count) => sum + count, 0),
  settled,
  counts: { ...none, ...counts },
});

describe("DLV-21: many tasks of one client", () => {
  it("go in one request, each with an id of its own, and are accepted together", async () => {
    const peer = new FakePeer();
    peer.answers["submit.many"] = ({ groupId, tasks }) => ({
      groupId,
      tasks: tasks.map(({ messageId, traceId }: Record<string, string>) => ({
        messageId,
        traceId,
        state: "queued",
        duplicate: false,
      })),
    });
    const group = peer.client().submitMany([
      { capability: "batch", input: 1 },
      { capability: "batch", input: { n: 2 }, timeoutMs: 500, onStalled: "fail" },
    ]);
    const { tasks } = (await group.accepted).orThrow();
    const sent = peer.session.of("submit.many")[0]!["params"];
    expect(sent).toMatchObject({
      groupId: group.groupId,
      tasks: [
        { capability: "batch", input: 1 },
        { capability: "batch", input: { n: 2 }, timeoutMs: 500, onStalled: "fail" },
      ],
    });
    expect(tasks.map(({ messageId }) => messageId)).toEqual(
      sent.tasks.map((task: { messageId: string }) => task.messageId),
    );
    expect(new Set(tasks.map(({ messageId }) => messageId)).size).toBe(2);
  });

  it("DLV-11: are repeated after a reconnect under the same ids, and a publish under the same groupId", async () => {
    const peer = new FakePeer();
    peer.answers["submit.many"] = peer.answers["publish"] = () => silence;
    const client = peer.client();
    const many = client.submitMany([{ capability: "batch" }], { groupId: "friday" });
    const published = client.publish({ topic: "news", input: 1 });
    await peer.settle();
    const before = ["submit.many", "publish"].map((method) => peer.session.of(method)[0]!["params"]);
    peer.answers["submit.many"] = ({ groupId }) => ({ groupId, tasks: [] });
    peer.answers["publish"] = ({ groupId }) => ({ groupId, deliveries: 3 });
    const session = await peer.bounce();
    expect(["submit.many", "publish"].map((method) => session.of(method)[0]!["params"])).toEqual(before);
    expect(before[1]).toEqual({ topic: "news", input: 1, groupId: published.groupId });
    expect(await many.accepted).toMatchObject({ ok: true, data: { groupId: "friday" } });
    expect((await published.accepted).orThrow()).toEqual({ groupId: published.groupId, deliveries: 3 });
  });

  it("DLV-7: a publish is named by its groupId, else by the key or the messageId under which its sender repeats it", async () => {
    const peer = new FakePeer();
    peer.answers["publish"] = ({ groupId }) => ({ groupId, deliveries: 1 });
    const client = peer.client();
    const messageId = "0199A5C2-6F0E-7C11-9B1E-2F0D5A7C1E42";
    const keys = [{ groupId: "g", idempotencyKey: "k" }, { idempotencyKey: "k", messageId }, { messageId }];
    const groups = keys.map((key) => client.publish({ topic: "news", ...key }));
    for (const group of groups) expect((await group.accepted).orThrow().groupId).toBe(group.groupId);
    expect(groups.map(({ groupId }) => groupId)).toEqual(["g", "k", messageId.toLowerCase()]);
  });

  it("of which one cannot be sent, or is refused, fail together as a value that names it", async () => {
    const peer = new FakePeer();
    peer.answers["submit.many"] = () => {
      throw new ReachError("INVALID_INPUT", "tasks[1]: no id", { path: "tasks[1].input.id" });
    };
    const client = peer.client();
    const wrong = client.submitMany([{ capability: "batch" }, { capability: "batch", input: { at: [1n] } }]);
    expect(await wrong.accepted).toMatchObject({ errorCode: "INVALID_INPUT", path: "tasks[1].input.at[0]" });
    expect(peer.sessions).toHaveLength(0);
    const refused = client.submitMany([{ capability: "batch" }, { capability: "batch" }]);
    expect(await refused.accepted).toMatchObject({ errorCode: "INVALID_INPUT", path: "tasks[1].input.id" });
    await expect(refused.done()).rejects.toMatchObject({ code: "INVALID_INPUT" });
    const large = client.submitMany([{ capability: "batch", input: "x".repeat(1_200_000) }]);
    expect(await large.accepted).toMatchObject({ errorCode: "PAYLOAD_TOO_LARGE" });
    expect(await client.publish({ topic: "t", input: { f: () => 1 } }).accepted).toMatchObject({
      errorCode: "INVALID_INPUT",
      path: "input.f",
    });
  });
});

describe("DLV-21: the end of a group", () => {
  it("is awaited by the node's word", async () => {
    const peer = new FakePeer();
    let counts: Partial<typeof none> = { working: 2 };
    peer.answers["group.get"] = ({ groupId }) => groupOf(groupId, counts, counts.working === undefined);
    const client = peer.client();
    const group = client.group("friday");
    const done = group.done();
    await peer.settle();
    expect(await group.counts()).toMatchObject({ settled: false, counts: { working: 2 } });
    counts = { completed: 1, failed: 1 };
    peer.session.notify("group.update", groupOf("other", counts));
    await peer.settle();
    expect(peer.session.of("group.get")).toHaveLength(2);
    peer.session.notify("group.update", groupOf("friday", counts));
    expect(await done).toMatchObject({ total: 2, settled: true, counts: { failed: 1 } });
  });

  it("is looked at every ten seconds, after a reconnect, and again after a failure that may pass", async () => {
    const peer = new FakePeer();
    let asked = 0;
    peer.answers["group.get"] = ({ groupId }) => {
      asked++;
      if (asked === 2) throw new ReachError("NOT_READY", "loading", { retryAfterMs: 500 });
      return groupOf(groupId, { completed: 1 }, asked === 4);
    };
    const done = peer.client().group("friday").done();
    await peer.advance(9_000);
    expect(asked).toBe(1);
    await peer.advance(2_000);
    expect(asked).toBe(3);
    await peer.bounce();
    expect(await done).toMatchObject({ settled: true });
    expect(asked).toBe(4);
  });

  it("keeps the process alive while it is awaited, and no longer", async () => {
    const peer = new FakePeer();
    let settled = false;
    peer.answers["group.get"] = ({ groupId }) => groupOf(groupId, { completed: 1 }, settled);
    let held: boolean | undefined;
    const hold = (on: boolean) => {
      held = on;
    };
    const client = peer.client({ transport: (url, events) => Object.assign(peer.dial(url, events), { hold }) });
    await client.connect();
    const done = client.group("friday").done();
    await peer.settle();
    expect(held).toBe(true);
    settled = true;
    await peer.advance(11_000);
    await done;
    expect(held).toBe(false);
  });

  it("of a group that nobody knows is an exception", async () => {
    const peer = new FakePeer();
    peer.answers["group.get"] = () => {
      throw new ReachError("NOT_FOUND", "no such group");
    };
    await expect(peer.client().group("friday").done()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("of what was published to nobody has come already", async () => {
    const peer = new FakePeer();
    peer.answers["publish"] = ({ groupId }) => ({ groupId, deliveries: 0 });
    const group = peer.client().publish({ topic: "news" });
    expect(await group.done()).toEqual(groupOf(group.groupId, {}));
  });

  it("can be brought about, and undone", async () => {
    const peer = new FakePeer();
    peer.answers["group.cancel"] = ({ reason }) => ({ canceled: reason === "enough" ? 3 : 0 });
    peer.answers["group.requeue"] = () => ({ requeued: 2 });
    const group = peer.client().group("friday");
    expect([await group.cancel("enough"), await group.requeue()]).toEqual([3, 2]);
  });
});
