import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { cardOf, SocketAgent } from "../kit/agents.js";
import { SmallDisk } from "../kit/faults.js";
import { freePort, ReachNode } from "../kit/node.js";
import { type Json, Wire, WireError } from "../kit/wire.js";
import { eventually } from "../kit/within.js";

/** Area F of the cases, on whole nodes; what one store does by itself stands beside the store. */
const nodes: ReachNode[] = [];
const open: { cut(): void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) one.cut();
  for (const node of nodes.splice(0)) await node.dispose();
});
const start = async (options: Parameters<typeof ReachNode.start>[0] = {}): Promise<ReachNode> => {
  const node = await ReachNode.start(options);
  nodes.push(node);
  return node;
};
const keep = <One extends { cut(): void }>(one: One): One => {
  open.push(one);
  return one;
};
const directory = (): string => {
  const made = mkdtempSync(join(tmpdir(), "agent-reach-case-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
};

describe("F03: a store that is damaged", () => {
  test("F03: keeps the node from starting, which names the file and the remedy, and is left as it is", async () => {
    const dataDir = directory();
    const node = await start({ dataDir });
    const agent = keep(await SocketAgent.join(node.url));
    const caller = keep(await Wire.open(node.url));
    for (let n = 0; n < 20; n++)
      await caller.request("submit", { capability: agent.capability, input: "x".repeat(5_000) });
    await node.kill("SIGTERM");
    const file = join(dataDir, "reach.db");
    const whole = readFileSync(file);
    const damage: Record<string, () => void> = {
      header: () => writeFileSync(file, Buffer.concat([Buffer.alloc(100, 0xa5), whole.subarray(100)])),
      middle: () => {
        const at = Math.floor(whole.length / 8192) * 4096;
        writeFileSync(
          file,
          Buffer.concat([whole.subarray(0, at), Buffer.alloc(4096, 0xa5), whole.subarray(at + 4096)]),
        );
      },
      empty: () => truncateSync(file, 0),
      "of another kind": () => writeFileSync(file, "PK\u0003\u0004".repeat(2_000)),
    };
    for (const [name, make] of Object.entries(damage)) {
      make();
      const before = readFileSync(file);
      const { code, stderr, stdout } = await ReachNode.refusal({ dataDir });
      expect(code, name).not.toBe(0);
      expect(stderr + stdout, name).toMatch(/reach\.db.*(damaged|not an SQLite file)[\s\S]*backup/);
      expect(readFileSync(file).equals(before), name).toBe(true);
    }
    writeFileSync(file, whole);
    await node.start();
    const tasks = (await node.http.get("/v1/tasks")).body.tasks;
    expect(tasks).toHaveLength(20);
  }, 60_000);
});

describe("F07: heartbeats and the store", () => {
  test("F07: however many heartbeats come, with load and facts that change, not a byte of the store does", async () => {
    const node = await start();
    const agents: SocketAgent[] = [];
    for (let n = 0; n < 30; n++) agents.push(keep(await SocketAgent.join(node.url)));
    const puller = (await node.http.post("/v1/agents", { card: cardOf() })).body;
    const { instanceId, instanceKey, epoch } = puller;
    const beat = async (n: number): Promise<void> => {
      const facts = { load: { running: n % 10, queued: n }, health: 1 - (n % 3) / 100, facts: { p50LatencyMs: n } };
      await Promise.all(agents.map((agent) => agent.heartbeat(facts)));
      await node.http.post(`/v1/instances/${instanceId}/heartbeat`, { instanceKey, epoch, ...facts });
    };
    // What the registrations left is written a moment later, while heartbeats pass already.
    let before = contents(node.dataDir);
    await eventually(
      async () => {
        const last = before;
        for (let n = 0; n < 30; n++) await beat(n);
        before = contents(node.dataDir);
        return Object.keys(before).every((name) => before[name] === last[name]);
      },
      (same) => same,
      "the store to come to rest",
    );
    for (let n = 0; n <= 120; n++) await beat(n);
    expect(contents(node.dataDir)).toEqual(before);
    expect((await node.http.get(`/v1/agents/${agents[0]!.agentId}`)).body.instances[0].health).toBe(1);
  }, 40_000);

  const contents = (path: string) =>
    Object.fromEntries(
      readdirSync(path).map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(path, name)))
          .digest("hex"),
      ]),
    );
});

describe("F08: a store that cannot be had", () => {
  const submitAgain = async (node: ReachNode): Promise<void> => {
    const agent = keep(await SocketAgent.join(node.url));
    const { messageId } = await agent.wire.request("submit", { capability: agent.capability, input: 1 });
    expect((await agent.wire.request("task.result", { messageId, waitMs: 5_000 })).state).toBe("completed");
  };

  test("F08: on a disk that is read-only the node does not start, new or with data, and does when it is writable", async () => {
    const disk = new SmallDisk(20);
    onTestFinished(() => disk.dispose());
    const mount = (how: "ro" | "rw") => execFileSync("mount", ["-o", `remount,${how}`, disk.path], { stdio: "pipe" });
    const dataDir = join(disk.path, "data");
    for (const state of ["new", "with data"]) {
      mount("ro");
      const { code, stderr, stdout } = await ReachNode.refusal({ dataDir });
      expect(code, state).not.toBe(0);
      expect(stderr + stdout, state).toMatch(
        /(directory|store) .*data.*(cannot be made|could not be read or written)[\s\S]*NOT_READY/,
      );
      mount("rw");
      const node = await start({ dataDir });
      await submitAgain(node);
      await node.kill("SIGTERM");
    }
  }, 60_000);

  test("F08: without its native module the node does not start, and says what to do", async () => {
    const hide = `
      import { register } from "node:module";
      const hooks = 'export async function resolve(name, context, next) { if (/sqlite/.test(name) && !/^[./]|^file:/.test(name)) throw new Error("no native module here"); return next(name, context); }';
      register("data:text/javascript," + encodeURIComponent(hooks));
      Object.defineProperty(process, "getBuiltinModule", { value: undefined });`;
    const program = fileURLToPath(new URL("../../packages/cli/bin/agent-reach.js", import.meta.url));
    const dataDir = join(directory(), "data");
    const port = String(await freePort());
    const child = spawn(
      process.execPath,
      [
        "--import",
        `data:text/javascript,${encodeURIComponent(hide)}`,
        program,
        "serve",
        "--port",
        port,
        "--data",
        dataDir,
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)));
    const [code] = await once(child, "close");
    expect(code).not.toBe(0);
    expect(said).toMatch(/SQLite could not be loaded \(no native module here\).*install.*NOT_READY/s);
  }, 30_000);

  test("F08: memory in its place is asked for by name, and a metric says that nothing outlives the node", async () => {
    const durable = async (node: ReachNode) =>
      /^agent_reach_store_durable (\d)/m.exec((await node.http.get("/metrics")).text)?.[1];
    expect(await durable(await start())).toBe("1");
    expect(await durable(await start({ args: ["--engine", "memory"] }))).toBe("0");
  }, 30_000);
});

describe("F07: a disk that is full of what the node itself stored", () => {
  test("F07: has room again when what is kept grows old, without anybody's help", async () => {
    const disk = new SmallDisk(40);
    onTestFinished(() => disk.dispose());
    const node = await start({ dataDir: join(disk.path, "data"), settings: { task: { keepSec: 1 } } });
    const agent = keep(await SocketAgent.join(node.url, cardOf({ maxConcurrentTasks: 100 })));
    const caller = keep(await Wire.open(node.url));
    const submit = (): Promise<Json> =>
      caller.request("submit", { capability: agent.capability, input: "x".repeat(200_000) }, 20_000);
    let refused: WireError | undefined;
    for (let n = 0; n < 2_000 && refused === undefined; n++) {
      await submit().catch((error: unknown) => {
        if (!(error instanceof WireError)) throw error;
        refused = error;
      });
    }
    expect(refused?.code).toBe("NOT_READY");
    await eventually(
      () => submit().catch((error: Json) => ({ state: error.code })),
      ({ state }) => state !== "NOT_READY",
      "room to come back by itself",
      20_000,
    );
  }, 60_000);
});
