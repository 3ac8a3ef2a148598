import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type { Json } from "../kit/wire.js";
import { eventually, within } from "../kit/within.js";

const program = fileURLToPath(new URL("../../packages/cli/bin/agent-reach.js", import.meta.url));
/** Where the demo makes its temporary directory, so that this file sees whether it is gone. */
const home = mkdtempSync(join(tmpdir(), "agent-reach-demo-test-"));
const started = new Set<number>();

afterAll(() => {
  for (const pid of started) kill(pid, "SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

function startDemo(args: string[]) {
  const child = spawn(process.execPath, [program, "demo", ...args], {
    // A setting of the user's own node must not reach the demo's.
    env: {
      ...process.env,
      TMPDIR: home,
      NO_COLOR: "1",
      AGENT_REACH_URL: "http://127.0.0.1:1",
      AGENT_REACH_SERVER_PORT: "x",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (child.pid !== undefined) started.add(child.pid);
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, out, err }));
  });
  /** The pids of the four agents and the node, once the demo has told them. */
  const cast = async (): Promise<number[]> => {
    const names = ["pre-sale-agent", "order-agent", "after-sale-agent", "batch-agent"];
    const told = new RegExp(`${names.map((name) => `${name} [^\\n]* (\\d+)\\n *`).join("")}.*node is pid (\\d+)`, "s");
    const shown = new Promise<number[]>((resolve) => {
      child.stdout.on("data", () => {
        const [, ...pids] = told.exec(out) ?? [];
        if (pids.length === 5) resolve(pids.map(Number));
      });
    });
    return within(shown, "the demo to show its agents", 60_000);
  };
  return { child, ended, cast };
}

function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

const alive = (pids: number[]): number[] => pids.filter((pid) => kill(pid, 0));

describe("agent-reach demo", () => {
  it("loses nothing, does nothing twice, and leaves nothing running", { timeout: 150_000 }, async () => {
    const { ended } = startDemo(["--json"]);
    const { code, out, err } = await within(ended, "the demo to end", 140_000);
    const result: Json = JSON.parse(out);
    expect(result.problems).toEqual([]);
    expect({ code, err, ok: result.ok }).toEqual({ code: 0, err: "", ok: true });
    const { sent, done, refused, redelivered, lost, effectsTwice } = result.counts;
    expect({ refused, lost, effectsTwice }).toEqual({ refused: 2, lost: 0, effectsTwice: 0 });
    expect(sent).toBeGreaterThan(1000);
    expect(done).toBe(sent - refused);
    expect(redelivered).toBeGreaterThan(0);
    // A node, four agents, and the three that came in somebody's place.
    expect(result.pids).toHaveLength(8);
    expect(alive(result.pids)).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });

  it("ended in the middle, it takes everything with it", { timeout: 90_000 }, async () => {
    const { child, ended, cast } = startDemo([]);
    const pids = await cast();
    expect(alive(pids)).toHaveLength(5);
    child.kill("SIGINT");
    const { code } = await within(ended, "the demo to end", 20_000);
    expect(code).toBe(130);
    expect(alive(pids)).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });

  it("killed in the middle, it leaves no process behind", { timeout: 90_000 }, async () => {
    const { child, ended, cast } = startDemo([]);
    const pids = await cast();
    child.kill("SIGKILL");
    await ended;
    await eventually(
      async () => alive(pids),
      (left) => left.length === 0,
      "the agents to end",
    );
    for (const left of readdirSync(home)) rmSync(join(home, left), { recursive: true });
  });

  it("says so and ends with 1 if an agent is not as it should be", { timeout: 90_000 }, async () => {
    const { ended, cast } = startDemo([]);
    const pids = await cast();
    kill(pids[0]!, "SIGKILL");
    const { code, out } = await within(ended, "the demo to end", 30_000);
    expect(code).toBe(1);
    expect(out).toMatch(/Not everything was as it should be.*pre-sale-agent \(pid \d+\) ended by itself \(SIGKILL\)/s);
    expect(alive(pids)).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });
});
