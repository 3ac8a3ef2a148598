import { beforeEach, describe, expect, test } from "vitest";
import { FakeLink } from "../../../../test/kit/fake-link.js";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { settle } from "../../../../test/kit/fake-system.js";
import { SlowSystem } from "../../../../test/kit/slow-system.js";
import { openMemory } from "../engines/memory/index.js";
import type { ViewChange } from "./view.js";

const DAY = 86_400_000;
const uuid = (n: number): string => `0199a5c2-6f0e-7c11-9b1e-${String(n).padStart(12, "0")}`;
const v = (n: number) => card("a1", [{ name: "query", description: `content ${n}` }]);

let rooms: FakeRooms;
/** What a version of agent a1 says, and what its agent shows now. */
const content = async (n: number): Promise<string | undefined> =>
  (await rooms.registry.version("default", "a1", n)).capabilities?.[0]?.description;
const current = (): unknown[] => {
  const { version, card } = rooms.registry.view.agent("default", "a1")!.record;
  return [version, card.capabilities?.[0]?.description];
};
beforeEach(async () => {
  rooms = await FakeRooms.open();
});

describe("REG-1: registering", () => {
  test("confirms what is stored: ids, secret, epoch, version, revision and lease", async () => {
    const query = { name: "query", idempotent: true, description: "Finds orders", examples: ["where is my order"] };
    const plain = card("a1", [query], { heartbeatIntervalSec: 30 });
    const { registered, instance } = await rooms.join(plain);
    expect(registered).toMatchObject({ agentId: "a1", epoch: 1, version: 1, warnings: [] });
    expect(registered.lease).toEqual({ heartbeatIntervalSec: 30, ttlSec: 90, graceSec: 60 });
    const stored = await rooms.engine.registry.get("instance", registered.instanceId);
    expect(stored).toMatchObject({ revision: registered.revision, state: "online", epoch: 1 });
    expect(JSON.stringify(stored)).not.toContain(registered.instanceKey);
    expect(instance.link).toBeDefined();
  });

  test("REG-9: a bad card is refused whole", async () => {
    const bad = card("a1", ["query", "query"]);
    await expect(rooms.join(bad)).rejects.toMatchObject({ code: "INVALID_CARD", path: "capabilities[1].name" });
    const unusable = card("a1", ["fine", { name: "bad", inputSchema: { type: "strin" } }]);
    await expect(rooms.join(unusable)).rejects.toMatchObject({ path: "capabilities[1].inputSchema" });
    expect(await rooms.engine.registry.list("agent")).toEqual([]);
    expect(rooms.registry.view.capabilities.size).toBe(0);
  });

  test("REG-2: a second instance joins and never evicts the first", async () => {
    const first = await rooms.join(card("a1"));
    const second = await rooms.join(card("a1"));
    expect(second.registered.instanceId).not.toBe(first.registered.instanceId);
    expect(first.link.closes).toEqual([]);
    expect(rooms.registry.view.agent("default", "a1")!.instances.size).toBe(2);
  });

  test("LIVE-1: a lease that is likely a mistake is warned about", async () => {
    const short = await rooms.join(card("a1", [], { heartbeatIntervalSec: 5 }));
    const long = await rooms.join(card("a2", [], { heartbeatIntervalSec: 60 }));
    expect(short.registered.warnings.join()).toContain("15 s");
    expect(long.registered.warnings.join()).toContain("180 s");
  });

  test("REG-12: what keeps a card's capabilities from being found is said in the answer", async () => {
    const bare = await rooms.join(card("a1", ["bare"]));
    expect(bare.registered.warnings).toEqual([
      expect.stringMatching(/^idempotent:/),
      expect.stringMatching(/^examples: none for bare\./),
    ]);
    const other = { name: "send_bill", description: "Sends a bill", examples: ["please send me the bill"] };
    await rooms.join(card("a2", [other]));
    await rooms.pass(1_000);
    const doubtful = {
      name: "delete_bill",
      operation: "list",
      idempotent: true,
      examples: ["send the bill 4711", "throw the bill away"],
    };
    const { warnings } = (await rooms.join(card("a3", [doubtful]))).registered;
    expect(warnings).toEqual([
      expect.stringMatching(/^description: none for delete_bill,/),
      expect.stringMatching(/^operation: "delete_bill" sounds like delete/),
      expect.stringMatching(/^examples: "delete_bill" and "send_bill" give the same example, "send the bill 4711"/),
    ]);
  });

  test("one agent registering many times at once gets them in order, each with its own version", async () => {
    const all = await Promise.all([1, 2, 3, 2, 1].map((n) => rooms.join(v(n))));
    expect(all.map((a) => a.registered.version)).toEqual([1, 2, 3, 2, 1]);
  });
});

describe("REG-3: the card's version", () => {
  test("rises with each new content, stays with the same, and comes back with a known one", async () => {
    const link = new FakeLink();
    const { registered } = await rooms.join(v(1), { link });
    const again = async (n: number, more = {}) =>
      (await rooms.join({ ...v(n), ...more }, { instanceId: registered.instanceId, link })).registered.version;
    expect(await again(1)).toBe(1);
    expect(await again(2)).toBe(2);
    expect(await again(2, { status: "busy", load: 0.7, version: "9" })).toBe(2);
    expect(await again(1)).toBe(1);
    expect(await again(3)).toBe(3);
  });

  test("does not depend on the order of keys", async () => {
    await rooms.join(card("a1", ["q"], { labels: { a: "1", b: "2" } }));
    const turned = await rooms.join({ labels: { b: "2", a: "1" }, capabilities: [{ name: "q" }], agentId: "a1" });
    expect(turned.registered.version).toBe(1);
  });

  test("an old one stays readable for 24 h after it was replaced, however long it had stood", async () => {
    const { link, registered } = await rooms.join(v(1));
    await rooms.leap(10 * DAY);
    await rooms.join(v(2), { instanceId: registered.instanceId, link });
    await rooms.leap(DAY - 5000);
    expect(await content(1)).toBe("content 1");
    expect(await content(2)).toBe("content 2");
    await rooms.leap(5000);
    await rooms.registry.purge();
    await expect(content(1)).rejects.toMatchObject({ code: "NOT_FOUND", path: "version" });
    expect(await content(2)).toBe("content 2");
    expect(await rooms.engine.registry.list("version")).toEqual([]);
  });

  test("of an agent that changes without end the newest thousand stay, and those for 24 h", async () => {
    const { link, registered } = await rooms.join(v(1));
    const again = (n: number) => rooms.join(v(n), { instanceId: registered.instanceId, link });
    for (let n = 2; n <= 1_200; n++) await again(n);
    const numbers = async () => {
      await rooms.registry.purge();
      return (await rooms.engine.registry.list("version")).map(({ key }) => Number(key.slice(-10)));
    };
    const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
    expect(await numbers()).toEqual(from(200, 1_199));
    await rooms.leap(DAY / 2);
    await again(1_201);
    expect(await numbers()).toEqual(from(201, 1_200));
    await rooms.leap(DAY / 2 + 5_000);
    expect(await numbers()).toEqual([1_200]);
  });

  test("the agent shows what runs: a card that comes back is the current one again, under its old number", async () => {
    const { link, registered } = await rooms.join(v(1));
    const again = (n: number) => rooms.join(v(n), { instanceId: registered.instanceId, link });
    await again(2);
    await again(1);
    expect(current()).toEqual([1, "content 1"]);
    await rooms.leap(2 * DAY);
    await rooms.registry.purge();
    expect(await content(1)).toBe("content 1");
    await expect(content(2)).rejects.toMatchObject({ code: "NOT_FOUND" });
    // The number 2 was given before, so it is not given to another content.
    expect((await again(3)).registered.version).toBe(3);
    expect((await again(2)).registered.version).toBe(2);
    expect(current()).toEqual([2, "content 2"]);
  });

  test("a new instance with an older card makes that the current one: the agent is rolled back", async () => {
    await rooms.join(v(1));
    await rooms.join(v(2));
    await rooms.join(v(1));
    expect(current()).toEqual([1, "content 1"]);
  });

  test("an instance that merely reconnects in the middle of a rolling update is no roll-back", async () => {
    const older = await rooms.join(v(1));
    const newer = await rooms.join(v(2));
    const reconnect = () => rooms.join(v(1), older.registered);
    expect((await reconnect()).registered.version).toBe(1);
    expect(current()).toEqual([2, "content 2"]);
    await rooms.registry.deregister(newer.instance, "done");
    await reconnect();
    expect(current()).toEqual([1, "content 1"]);
  });

  test("one that an instance still runs is not purged, and stays for 24 h after that", async () => {
    const older = await rooms.join(v(1));
    await rooms.join(v(2));
    await rooms.leap(3 * DAY);
    await rooms.registry.purge();
    expect(await content(1)).toBe("content 1");
    await rooms.join(v(2), { instanceId: older.registered.instanceId, link: older.link });
    await rooms.leap(DAY - 5000);
    await rooms.registry.purge();
    expect(await content(1)).toBe("content 1");
    await rooms.leap(10_000);
    await expect(content(1)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("REG-2: identity and fencing", () => {
  test("over the link that holds the instance it is an update: same epoch, same secret, same link", async () => {
    const first = await rooms.join(card("a1"));
    const { instanceId, instanceKey } = first.registered;
    const again = await rooms.join(card("a1", ["other"]), { instanceId, link: first.link });
    expect(again.registered).toMatchObject({ instanceId, instanceKey, epoch: 1, version: 2 });
    expect(first.link.closes).toEqual([]);
    expect(again.instance).toBe(first.instance);
  });

  test("from elsewhere it is a takeover: the next epoch, and the older link is closed as superseded", async () => {
    const first = await rooms.join(card("a1"));
    const { instanceId, instanceKey } = first.registered;
    const second = await rooms.join(card("a1"), { instanceId, instanceKey });
    expect(second.registered).toMatchObject({ instanceId, instanceKey, epoch: 2, version: 1 });
    expect(first.link.closes).toEqual([4001]);
    expect(second.instance.link).toBe(second.link);
  });

  test("an instance cannot become another agent's, not even over its own link", async () => {
    const { link, registered } = await rooms.join(card("a1"));
    await expect(rooms.join(card("a2"), { ...registered, link })).rejects.toMatchObject({
      code: "FORBIDDEN",
      details: { policy: "instance-owner" },
    });
    expect(rooms.registry.view.agents.size).toBe(1);
  });

  test("the word of the older link counts no more: its loss does not touch the newer one", async () => {
    const first = await rooms.join(card("a1"));
    const { instanceId, instanceKey } = first.registered;
    const second = await rooms.join(card("a1"), { instanceId, instanceKey });
    await rooms.cut({ ...first, instance: second.instance });
    expect(second.instance.record).toMatchObject({ state: "online", epoch: 2 });
  });

  test("an instanceId in capitals is the same instance", async () => {
    const first = await rooms.join(card("a1"), { instanceId: "0199A5C2-6F0E-7C11-9B1E-00000000000A" });
    const { instanceId, instanceKey } = first.registered;
    const second = await rooms.join(card("a1"), { instanceId: instanceId.toUpperCase(), instanceKey });
    expect(second.registered).toMatchObject({ instanceId, epoch: 2 });
    expect(instanceId).toBe(instanceId.toLowerCase());
  });

  test("an agent that is back while the loss of its connection is still being written waits for that, and has no conflict", async () => {
    const engine = await openMemory();
    const { registry } = engine;
    const put = registry.put.bind(registry);
    let held: (() => void) | undefined;
    let hold = false;
    registry.put = async (changes) => {
      if (hold) await new Promise<void>((go) => (held = go));
      return put(changes);
    };
    rooms = await FakeRooms.open({ engine });
    const first = await rooms.join(card("a1"));
    hold = true;
    await rooms.cut(first);
    hold = false;
    const back = rooms.join(card("a1"), first.registered);
    await rooms.pass(0);
    held!();
    expect((await back).registered).toMatchObject({ epoch: 2 });
    expect(rooms.registry.view.instances.get(first.registered.instanceId)!.record.state).toBe("online");
  });

  test("SEC-1: a connected instance is taken over with its key alone", async () => {
    const { registered } = await rooms.join(card("a1"));
    const { instanceId } = registered;
    await expect(rooms.join(card("a1"), { instanceId })).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(rooms.join(card("a1"), { instanceId, instanceKey: "wrong" })).rejects.toMatchObject({
      code: "FORBIDDEN",
      details: { policy: "instance-key" },
    });
    expect(rooms.registry.view.instances.get(instanceId)!.record.epoch).toBe(1);
  });

  test("one that is not connected is taken over by the same agent, and by no other", async () => {
    const first = await rooms.join(card("a1"));
    const { instanceId } = first.registered;
    await rooms.cut(first);
    await expect(rooms.join(card("a2"), { instanceId })).rejects.toMatchObject({
      code: "FORBIDDEN",
      details: { policy: "instance-owner" },
    });
    const second = await rooms.join(card("a1"), { instanceId });
    expect(second.registered.epoch).toBe(2);
    expect(second.registered.instanceKey).not.toBe(first.registered.instanceKey);
  });

  test("over HTTP the key and the newest epoch are needed", async () => {
    const { registered } = await rooms.join(card("a1"));
    const { instanceId, instanceKey } = registered;
    const code = (key: string | undefined, epoch: number | undefined, id = instanceId): string => {
      try {
        return rooms.registry.authorize(id, key, epoch).record.agentId;
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(code(instanceKey, 1)).toBe("a1");
    expect(code(undefined, 1)).toBe("FORBIDDEN");
    expect(code("wrong", 1)).toBe("FORBIDDEN");
    expect(code(instanceKey, undefined)).toBe("INVALID_REQUEST");
    expect(code(instanceKey, 2)).toBe("CONFLICT");
    expect(code(instanceKey, 1, uuid(9))).toBe("NOT_FOUND");
  });

  test("a heartbeat never resurrects: after a goodbye the answer is to register again, under a higher epoch", async () => {
    const { instance, registered, link } = await rooms.join(card("a1"));
    await rooms.registry.deregister(instance, "done");
    expect(instance.record.state).toBe("offline");
    expect(rooms.registry.heartbeat(instance, {})).toBe("unknown");
    expect(instance.record.state).toBe("offline");
    const again = await rooms.join(card("a1"), { instanceId: registered.instanceId, link });
    expect(again.registered.epoch).toBe(2);
  });
});

describe("REG-7: purging", () => {
  test("keeps what is offline for 24 h and then forgets it, its agent too; epochs never start again", async () => {
    const first = await rooms.join(card("a1", ["query"]));
    const { instanceId, instanceKey } = first.registered;
    const second = await rooms.join(card("a1", ["query"]), { instanceId, instanceKey });
    await rooms.registry.deregister(second.instance, "done");
    const changes: ViewChange[] = [];
    rooms.registry.onChange((change) => changes.push(change));
    await rooms.leap(DAY - 120_000);
    expect(rooms.registry.view.instances.has(instanceId)).toBe(true);
    expect(rooms.registry.view.capabilities.get("query")).toMatchObject({ offers: [] });
    await rooms.leap(240_000);
    expect(rooms.registry.view.instances.has(instanceId)).toBe(false);
    expect(rooms.registry.view.agents.size).toBe(0);
    expect(rooms.registry.view.capabilities.size).toBe(0);
    expect(changes.map((c) => c.removed)).toEqual([true, true]);
    const third = await rooms.join(card("a1"), { instanceId });
    expect(third.registered.epoch).toBe(3);
  });

  test("epochs never start again, also when the node was restarted after the instance was forgotten", async () => {
    const first = await rooms.join(card("a1"));
    const second = await rooms.join(card("a1"), first.registered);
    await rooms.registry.deregister(second.instance, "done");
    await rooms.leap(DAY + 60_000);
    expect(await rooms.engine.registry.list("instance")).toEqual([]);
    rooms = await rooms.restart();
    const again = await rooms.join(card("a1"), first.registered);
    expect(again.registered.epoch).toBe(3);
    // One that is made here is new.
    expect((await rooms.join(card("a1"))).registered.epoch).toBe(1);
  });

  test("an agent that is forgotten leaves no version behind", async () => {
    const { link, instance, registered } = await rooms.join(v(1));
    for (const n of [2, 3]) await rooms.join(v(n), { instanceId: registered.instanceId, link });
    expect(await rooms.engine.registry.list("version")).toHaveLength(2);
    await rooms.registry.deregister(instance, "done");
    await rooms.leap(DAY + 60_000);
    expect(rooms.registry.view.agents.size).toBe(0);
    expect(await rooms.engine.registry.list("version")).toEqual([]);
    await expect(content(1)).rejects.toMatchObject({ code: "NOT_FOUND", path: "agentId" });
  });

  test("looks at a large fleet bit by bit, and others have the event loop in between", async () => {
    const system = new SlowSystem();
    rooms = await FakeRooms.open({ system });
    const gone = await rooms.join(card("a1", ["query"]));
    await rooms.registry.deregister(gone.instance, "done");
    for (let n = 2; n <= 5; n++) await rooms.join(card(`a${n}`, [`q${n}`]));
    system.jumpWall(DAY + 1);
    let isThrough = false;
    const purging = rooms.registry.purge().then(() => {
      isThrough = true;
    });
    let rests = 0;
    for (; !isThrough; rests++) {
      await settle();
      system.advance(1);
    }
    await purging;
    expect(rests).toBeGreaterThan(10);
    expect([...rooms.registry.view.agents.keys()].map((key) => key.slice(-2))).toEqual(["a2", "a3", "a4", "a5"]);
    expect([...rooms.registry.view.capabilities.keys()]).toEqual(["q2", "q3", "q4", "q5"]);
  });

  test("touches nobody who is there", async () => {
    const { instance, registered } = await rooms.join(card("a1"));
    for (let hour = 0; hour < 48; hour++) {
      await rooms.pass(20_000);
      rooms.registry.renew(instance);
    }
    await rooms.registry.purge();
    expect(rooms.registry.view.instances.get(registered.instanceId)!.record.state).toBe("online");
  });
});
