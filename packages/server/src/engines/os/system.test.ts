import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { FakeSystem } from "../../../../../test/kit/fake-system.js";
import { systemConformance } from "../../ports/conformance/system.js";
import { uuidV7 } from "./ids.js";
import { osSystem } from "./system.js";

describe("os", () => {
  systemConformance({
    open: osSystem,
    pass: async (_, ms) => {
      await once(AbortSignal.timeout(ms + 1), "abort");
    },
  });
});

describe("os, when the process stood still", () => {
  test("LIVE-7: reads what came meanwhile before it counts what is late", async () => {
    const order: string[] = [];
    const server = createServer((socket) => {
      socket.once("data", () => {
        order.push("read");
        socket.destroy();
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const taken = once(server, "connection");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    await Promise.all([taken, once(client, "connect")]);
    const late = new Promise<void>((resolve) => {
      osSystem().after(50, () => {
        order.push("late");
        resolve();
      });
    });
    client.write("in time");
    // As SIGSTOP would: the loop stands still until long after the moment of the timer.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
    await late;
    expect(order).toEqual(["read", "late"]);
    client.destroy();
    server.close();
  });
});

describe("FakeSystem", () => {
  systemConformance({ open: () => new FakeSystem(), pass: (system, ms) => (system as FakeSystem).advanceAsync(ms) });

  test("S1 S2: a jump of the wall clock moves neither durations nor timers", () => {
    const system = new FakeSystem({ now: Date.UTC(2026, 0) });
    let fired = 0;
    system.after(100, () => fired++);
    const [wall, monotonic] = [system.now(), system.monotonic()];
    system.jumpWall(3_600_000);
    expect([system.now() - wall, system.monotonic() - monotonic, fired]).toEqual([3_600_000, 0, 0]);
    system.jumpWall(-7_200_000);
    system.advance(100);
    expect([system.now() - wall, fired]).toEqual([-3_600_000 + 100, 1]);
  });

  test("runs timers in order of their moment, each at its own, also those set meanwhile", () => {
    const system = new FakeSystem();
    const seen: [string, number][] = [];
    const note = (name: string) => () => seen.push([name, system.monotonic()]);
    system.after(30, note("c"));
    system.after(10, () => {
      note("a")();
      system.after(10, note("b"));
      system.after(100, note("late"));
    });
    system.after(30, note("d"));
    system.advance(50);
    expect(seen).toEqual([
      ["a", 10],
      ["b", 20],
      ["c", 30],
      ["d", 30],
    ]);
    expect([system.monotonic(), system.pending, system.nextInMs]).toEqual([50, 1, 60]);
  });

  test("lets promises and immediates come to rest between timers", async () => {
    const system = new FakeSystem();
    const seen: string[] = [];
    system.after(10, () => setImmediate(() => void Promise.resolve().then(() => seen.push("first"))));
    system.after(20, () => seen.push("second"));
    await system.advanceAsync(20);
    expect(seen).toEqual(["first", "second"]);
  });

  test("gives the same ids and chance for the same seed, and others for another", () => {
    const draw = (seed: number) => {
      const system = new FakeSystem({ seed });
      return [system.newId(), system.newId(), system.newSecret(), system.random()];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });
});

describe("uuidV7", () => {
  test("S4: ids go on rising when the clock jumps back or stands still", () => {
    let now = 1_800_000_000_000;
    const newId = uuidV7(
      () => now,
      (pool) => pool.fill(0x5a),
    );
    const ids = [newId()];
    now -= 3_600_000;
    for (let i = 0; i < 10_000; i++) ids.push(newId());
    now += 7_200_000;
    ids.push(newId());
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });
});
