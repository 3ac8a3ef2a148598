import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type { Json } from "../kit/wire.js";
import { within } from "../kit/within.js";

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
  let listeners: (() => void)[] = [];
  child.stdout.on("data", (chunk) => {
    out += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, out, err }));
  });
  /** Resolves when the output has this in it, and with what it is. */
  const said = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve) => {
      const look = () => {
        const found = pattern.exec(out);
        if (found === null) return;
        listeners = listeners.filter((listener) => listener !== look);
        resolve(found);
      };
      listeners.push(look);
      look();
    });
  return { child, ended, said };
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
    const { child, ended, said } = startDemo([]);
    const [, ...pids] = await within(
      said(/ (\d+)\n.* (\d+)\n.* (\d+)\n.* (\d+)\n\n.*the node is pid \d+/),
      "the agents",
      60_000,
    );
    expect(alive(pids.map(Number))).toHaveLength(4);
    child.kill("SIGINT");
    const { code } = await within(ended, "the demo to end", 20_000);
    expect(code).toBe(130);
    expect(alive(pids.map(Number))).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });
});
