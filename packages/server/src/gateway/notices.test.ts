import type { Group, Task } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { anyone, card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { FanOut } from "../../../../test/kit/fan-out.js";
import { type Address, Notices } from "./notices.js";

let rooms: FakeRooms;
let agent: FakeAgent;
let notices: Notices;
let resumable: Set<string>;
const open = async (): Promise<void> => {
  notices = new Notices(
    rooms.engine.tasks,
    rooms.tasks,
    rooms.system,
    (error) => rooms.trouble.push(error),
    (id) => resumable.has(id),
  );
  notices.listenTo(rooms.dispatcher, new FanOut(rooms).groups);
  await notices.start();
};
beforeEach(async () => {
  rooms = await FakeRooms.open();
  agent = await rooms.join(card("worker", ["query"]));
  resumable = new Set();
  await open();
});

/** A session as the notices see it. */
class Listener implements Address {
  readonly heard: Task[] = [];
  readonly progresses: string[] = [];
  readonly groups: Group[] = [];
  answers = true;

  constructor(
    readonly sessionId: string,
    readonly principal = "shop",
  ) {}

  notify(taskJson: string, answered: () => void): void {
    this.heard.push(JSON.parse(taskJson) as Task);
    if (this.answers) queueMicrotask(answered);
  }
  progress(json: string): void {
    this.progresses.push(json);
  }
  groupUpdate(json: string): void {
    this.groups.push(JSON.parse(json) as Group);
  }
  get states(): string[] {
    return this.heard.map((t) => t.state);
  }
}
const submit = async (sessionId: string, principal = "shop"): Promise<string> => {
  const caller = { ...anyone, principal, principals: new Set([principal]), sessionId };
  const reply = await rooms.submit({ capability: "query" }, caller);
  return String(reply.results[0]!["messageId"]);
};
const owed = async (id: string): Promise<boolean> => (await rooms.task(id)).notify;

describe("DLV-11: the end of a task", () => {
  test("is told to another session of the principal when its own will not come back", async () => {
    const [shop, sibling] = [new Listener("s1"), new Listener("s2")];
    notices.join(shop);
    notices.join(sibling);
    const id = await submit("s1");
    notices.leave(shop);
    resumable.add("s1");
    await settle();
    await rooms.complete(agent, agent.link.deliveries[0]!);
    expect(sibling.heard).toEqual([]);
    resumable.delete("s1");
    notices.abandoned(["shop"]);
    await settle();
    expect(sibling.states).toEqual(["completed"]);
    expect(await owed(id)).toBe(false);
  });

  test("is told to the session that submitted it, once, and its answer acknowledges", async () => {
    const [shop, sibling] = [new Listener("s1"), new Listener("s2")];
    notices.join(sibling);
    notices.join(shop);
    const id = await submit("s1");
    await agent.link.next().complete("data");
    await settle();
    expect(shop.heard).toMatchObject([{ messageId: id, state: "completed", data: "data" }]);
    expect(shop.heard[0]).not.toHaveProperty("input");
    expect(await owed(id)).toBe(false);
    await rooms.pass(30_000);
    expect([shop.heard.length, sibling.heard.length]).toEqual([1, 0]);
  });

  test("is told again until it is answered", async () => {
    const shop = new Listener("s1");
    shop.answers = false;
    notices.join(shop);
    const id = await submit("s1");
    await agent.link.next().complete();
    await rooms.pass(25_000);
    expect(shop.heard.length).toBe(3);
    expect(await owed(id)).toBe(true);
    shop.answers = true;
    await rooms.pass(10_000);
    expect(await owed(id)).toBe(false);
    await rooms.pass(30_000);
    expect(shop.heard.length).toBe(4);
  });

  test("is told to the next session of the same principal when that one is gone", async () => {
    const id = await submit("s1");
    await agent.link.next().fail();
    const stranger = new Listener("s9", "stranger");
    notices.join(stranger);
    const later = new Listener("s2");
    notices.join(later);
    await settle();
    expect(later.states).toEqual(["failed"]);
    expect(stranger.heard).toEqual([]);
    expect(await owed(id)).toBe(false);
  });

  test("waits for a session that may still come back", async () => {
    resumable.add("s1");
    await submit("s1");
    await agent.link.next().complete();
    const other = new Listener("s2");
    notices.join(other);
    await settle();
    expect(other.heard).toEqual([]);
    resumable.delete("s1");
    const back = new Listener("s1");
    notices.join(back);
    await settle();
    expect(back.states).toEqual(["completed"]);
  });

  test("that was on its way when the session went is told to the next one", async () => {
    const gone = new Listener("s1");
    gone.answers = false;
    notices.join(gone);
    const id = await submit("s1");
    await agent.link.next().complete();
    notices.leave(gone);
    notices.forget([id]);
    const next = new Listener("s2");
    notices.join(next);
    await rooms.pass(15_000);
    expect(next.states).toEqual(["completed"]);
    expect(gone.heard.length).toBe(1);
  });

  test("that one session had not answered when it went is told to another that is there already", async () => {
    const [first, second] = [new Listener("s2"), new Listener("s3")];
    first.answers = false;
    notices.join(first);
    const id = await submit("s1");
    await agent.link.next().complete();
    notices.join(second);
    await settle();
    expect([first.heard.length, second.heard.length]).toEqual([1, 0]);
    notices.leave(first);
    notices.forget([id]);
    await settle();
    expect(second.states).toEqual(["completed"]);
    expect(await owed(id)).toBe(false);
  });

  test("survives a restart of the node", async () => {
    const id = await submit("s1");
    await agent.link.next().complete();
    rooms = await rooms.restart();
    await open();
    const next = new Listener("s3");
    notices.join(next);
    await settle();
    expect(next.heard).toMatchObject([{ messageId: id, state: "completed" }]);
    expect(await owed(id)).toBe(false);
  });

  test("all of many reach a session that comes late, not all at once", async () => {
    const ids: string[] = [];
    agent.link.handler = (delivery) => queueMicrotask(() => void delivery.complete());
    for (let i = 0; i < 600; i++) ids.push(await submit("s1"));
    await rooms.pass(50);
    const late = new Listener("s2");
    late.answers = false;
    notices.join(late);
    await settle();
    expect(late.heard.length).toBe(256);
    late.answers = true;
    for (let i = 0; i < 10 && late.heard.length < 600; i++) await rooms.pass(10_000);
    expect(new Set(late.heard.map((t) => t.messageId)).size).toBe(600);
    expect((await rooms.engine.tasks.list({ notify: true }, { limit: 10 })).length).toBe(0);
  });
});

test("DLV-14: progress goes to the one who submitted, if it is there", async () => {
  const shop = new Listener("s1");
  notices.join(shop);
  const task = await rooms.task(await submit("s1"));
  notices.progress(task, '{"percent":10}');
  notices.leave(shop);
  notices.progress(task, '{"percent":20}');
  expect(shop.progresses).toEqual(['{"percent":10}']);
});

test("DLV-21: that a group has settled goes to the one who submitted it, or to another of its name if that is gone", async () => {
  const [shop, sibling, stranger] = [new Listener("s1"), new Listener("s2"), new Listener("s3", "rival")];
  for (const listener of [shop, sibling, stranger]) notices.join(listener);
  const caller = { ...anyone, principal: "shop", principals: new Set(["shop"]), sessionId: "s1" };
  const submitTwo = () => Promise.all([1, 2].map(() => rooms.submit({ capability: "query", groupId: "g" }, caller)));
  await submitTwo();
  await agent.link.next().complete();
  await settle();
  expect(shop.groups).toEqual([]);
  await agent.link.next().complete();
  await settle();
  expect(shop.groups).toMatchObject([{ groupId: "g", total: 2, settled: true, counts: { completed: 2 } }]);
  notices.leave(shop);
  await submitTwo();
  for (let n = 0; n < 2; n++) await agent.link.next().complete();
  await settle();
  expect([shop, sibling, stranger].map(({ groups }) => groups.length)).toEqual([1, 1, 0]);
});
