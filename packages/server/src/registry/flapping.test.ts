import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { Directory } from "./directory.js";
import { Flapping, type LossHistory } from "./flapping.js";

const alone = () => 1;

describe("LIVE-6: coming and going too often", () => {
  test("is more than three losses in two minutes, whatever lies before", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 90_000 }), { maxLength: 40 }), (gaps) => {
        const flapping = new Flapping();
        const history: LossHistory = [];
        const all: number[] = [];
        let now = 1_000_000;
        for (const gap of gaps) {
          now += gap;
          flapping.lost(history, now);
          all.push(now);
          const recent = all.filter((at) => at > now - 120_000).length;
          const judged = flapping.tooOften(history, alone, now);
          if (recent <= 3) expect(judged).toBeUndefined();
          else expect(judged).toBeGreaterThan(3);
        }
        expect(history.length).toBeLessThan(20);
      }),
    );
  });

  test("F2: what the node excuses is not counted", () => {
    const flapping = new Flapping();
    const history: LossHistory = [];
    flapping.excuse(10_000);
    for (let i = 1; i <= 8; i++) flapping.lost(history, i * 1_000);
    expect(flapping.tooOften(history, alone, 9_000)).toBeUndefined();
    for (let i = 1; i <= 4; i++) flapping.lost(history, 10_000 + i);
    expect(flapping.tooOften(history, alone, 10_010)).toBe(4);
  });

  test("F2: losses that most of the fleet had at the same time are nobody's own", () => {
    const flapping = new Flapping();
    const histories: LossHistory[] = Array.from({ length: 6 }, () => []);
    for (let round = 1; round <= 5; round++)
      for (const [i, history] of histories.entries()) flapping.lost(history, round * 10_000 + i * 100);
    for (const history of histories) expect(flapping.tooOften(history, () => 8, 51_000)).toBeUndefined();
    // The same losses in a fleet of a hundred are those of a few.
    for (const history of histories) expect(flapping.tooOften(history, () => 100, 51_000)).toBe(5);
  });
});

describe("LIVE-6: an instance that flaps", () => {
  let rooms: FakeRooms;
  beforeEach(async () => {
    rooms = await FakeRooms.open();
  });
  /** Its connection is lost, and it is back under its id a second later. */
  const bounce = async (agent: FakeAgent): Promise<FakeAgent> => {
    await rooms.cut(agent);
    await rooms.pass(1_000);
    return rooms.join(agent.instance.card, agent.registered);
  };
  const view = () => {
    const directory = new Directory(rooms.registry, rooms.system, 500);
    return JSON.parse(directory.get("default", "a1") as string).instances[0];
  };

  test("rests for 30 s: the state's reason, the view and every decision say so, and then it is given what waits", async () => {
    let agent = await rooms.join(card("a1"));
    for (let i = 0; i < 3; i++) agent = await bounce(agent);
    expect(agent.instance.record.reason).toBe("registered");
    expect(view().flapping).toBeUndefined();
    agent = await bounce(agent);
    expect(agent.instance.record).toMatchObject({
      state: "online",
      reason: expect.stringMatching(/4 times in 2 minutes/),
    });
    expect(view()).toMatchObject({
      state: "online",
      flapping: { losses: 4, restsUntil: new Date(rooms.system.now() + 30_000).toISOString() },
    });
    const messageId = rooms.system.newId();
    const waiting = rooms.call({ capability: "query_order", timeoutMs: 60_000, messageId });
    const decisions = (await rooms.journal.eventsOf(messageId)).flatMap((event) => event["decision"] ?? []);
    expect(decisions).toMatchObject([{ candidates: [{ verdict: "cool_down" }] }]);
    await rooms.pass(29_900);
    rooms.registry.renew(agent.instance);
    expect(agent.link.waiting).toBe(0);
    await rooms.pass(200);
    agent.link.next().complete({ done: true });
    await settle();
    expect(waiting.data).toEqual({ done: true });
    expect(view().flapping).toBeUndefined();
  });

  test("F1: keeps what it has in hand while it rests", async () => {
    let agent = await rooms.join(card("a1"));
    for (let i = 0; i < 3; i++) agent = await bounce(agent);
    const call = rooms.call({ capability: "query_order" });
    const delivery = agent.link.next();
    delivery.accept();
    rooms.registry.lost(agent.instance, agent.link, "a wobble");
    await settle();
    expect(agent.instance.record.state).toBe("suspect");
    rooms.registry.heartbeat(agent.instance, {});
    await settle();
    expect(agent.instance.record.reason).toMatch(/no new work for 30 s/);
    await rooms.complete(agent, delivery, { late: "but counted" });
    expect(call.data).toEqual({ late: "but counted" });
  });

  test("does not rest for what the node did: a restart, a stall, or a network that dropped everybody", async () => {
    const first = await rooms.join(card("a1"));
    for (let i = 0; i < 5; i++) {
      rooms = await rooms.restart();
      await rooms.pass(100);
      await rooms.join(card("a1"), first.registered);
    }
    expect(view().flapping).toBeUndefined();
    let agent = await rooms.join(card("a1"), first.registered);
    for (let i = 0; i < 3; i++) agent = await bounce(agent);
    // Three of its own, and that of the restart before them, which is not counted.
    expect(view().flapping).toBeUndefined();
    await rooms.pass(30_000);
    rooms.registry.renew(agent.instance);
    await rooms.pass(40_000);
    rooms.registry.renew(agent.instance);
    await rooms.pass(40_000);
    rooms.registry.renew(agent.instance);
    await rooms.pass(10_000);
    for (let i = 0; i < 5; i++) {
      rooms.system.stall(4_000);
      await rooms.pass(10);
      agent = await bounce(agent);
    }
    expect(view().flapping).toBeUndefined();
    const others = [];
    for (let i = 2; i < 10; i++) others.push(await rooms.join(card(`a${i}`)));
    let all = [agent, ...others];
    for (let i = 0; i < 5; i++) {
      for (const one of all) await rooms.cut(one);
      await rooms.pass(8_000);
      all = await Promise.all(all.map((one) => rooms.join(one.instance.card, one.registered)));
    }
    expect(all.map(({ instance }) => instance.flapping)).toEqual(all.map(() => undefined));
  });

  test("does not rest when it comes back over the same connection, updates its card or leaves in order", async () => {
    const link = new FakeLink();
    const agent = await rooms.join(card("a1"), { link });
    for (let i = 0; i < 10; i++) await rooms.join(card("a1"), { ...agent.registered, link });
    for (let i = 0; i < 10; i++) {
      const again = await rooms.join(card("a1"), agent.registered);
      await rooms.registry.deregister(again.instance, "restart");
    }
    await rooms.join(card("a1"), agent.registered);
    expect(view()).toMatchObject({ state: "online" });
    expect(view().flapping).toBeUndefined();
  });

  test("with lease.flapRestSec 0 nobody rests", async () => {
    rooms = await FakeRooms.open({ lease: { flapRestSec: 0 } });
    let agent = await rooms.join(card("a1"));
    for (let i = 0; i < 8; i++) agent = await bounce(agent);
    expect(view().flapping).toBeUndefined();
    expect(agent.instance.coolDownUntil).toBe(0);
  });
});
