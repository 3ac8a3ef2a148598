import { expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { openMemory } from "../engines/memory/index.js";

const ACK_MS = 5_000;

test("DLV-3: an agent has its time to acknowledge from the moment at which the task left, however slow the disk is", async () => {
  const engine = await openMemory();
  const rooms = await FakeRooms.open({ engine });
  const agent = await rooms.join(card("a1", ["query"]));
  const insert = engine.tasks.insert.bind(engine.tasks);
  engine.tasks.insert = async (task) => {
    await new Promise<void>((written) => rooms.system.after(ACK_MS + 1_000, written));
    return insert(task);
  };
  const submitting = rooms.submit({ capability: "query", delivery: "atMostOnce" });
  await rooms.pass(ACK_MS + 1_000);
  const reply = await submitting;
  const id = reply.results[0]!["messageId"];
  const delivery = agent.link.next();
  await rooms.pass(ACK_MS - 100);
  expect(await rooms.state(id)).toBe("delivered");
  expect(agent.instance.offers[0]!.breaker.failures).toBe(0);
  await rooms.pass(500);
  expect(await rooms.state(id)).toBe("stalled");
  expect(agent.instance.running).toBe(0);
  expect(await rooms.complete(agent, delivery)).toBe("recorded");
});

test("DLV-9: nobody is late because the wall clock jumps ahead, neither with the acknowledgement nor with the receipt", async () => {
  const rooms = await FakeRooms.open();
  const agent = await rooms.join(card("a1", ["query"]));
  const ids: unknown[] = [];
  for (let i = 0; i < 2; i++) {
    const reply = await rooms.submit({ capability: "query", completionTimeoutMs: 20_000 });
    ids.push(reply.results[0]!["messageId"]);
  }
  agent.link.next().accept();
  await rooms.pass(100);
  rooms.system.jumpWall(3_600_000);
  const states = () => Promise.all(ids.map((id) => rooms.state(id)));
  await rooms.pass(ACK_MS - 500);
  expect(await states()).toEqual(["working", "delivered"]);
  agent.link.next().accept();
  await rooms.pass(20_000 - ACK_MS);
  expect(await states()).toEqual(["working", "working"]);
  await rooms.pass(1_000);
  expect(await states()).toEqual(["stalled", "working"]);
  await rooms.pass(ACK_MS);
  expect(await states()).toEqual(["stalled", "stalled"]);
});

test("LIVE-7: what came while the node stood still counts before anybody is called late", async () => {
  const rooms = await FakeRooms.open();
  const agent = await rooms.join(card("a1", ["query"], { maxConcurrentTasks: 10 }));
  const submit = () => rooms.submit({ capability: "query", completionTimeoutMs: 2_000, onStalled: "fail" });
  const ids = [(await submit()).results[0]!["messageId"], (await submit()).results[0]!["messageId"]];
  const call = rooms.call({ capability: "query", timeoutMs: 2_000 });
  const silent = rooms.call({ capability: "query", timeoutMs: 2_000 });
  const [done, forgotten, called, unanswered] = [0, 1, 2, 3].map(() => agent.link.next());
  for (const delivery of [done!, forgotten!, unanswered!]) delivery.accept();
  await rooms.pass(1_000);
  rooms.system.stall(10_000);
  await rooms.pass(0);
  expect(await rooms.complete(agent, done!)).toBe("recorded");
  called!.complete("in time");
  await rooms.pass(1_000);
  expect(await Promise.all(ids.map((id) => rooms.state(id)))).toEqual(["completed", "failed"]);
  expect([call.data, silent.failure.code]).toEqual(["in time", "TIMEOUT"]);
});
