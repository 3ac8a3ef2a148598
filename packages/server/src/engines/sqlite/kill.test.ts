import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildSync } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqlite } from "./index.js";

const KILLS_MIN = 8;
const KILLS_MAX = 24;
/** A slow machine stops earlier. */
const ENOUGH_MS = 10_000;

/** The writer as one text, so that a child process can run it without a build: it goes in by standard input. */
function childCode(): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(import.meta.dirname, "conformance", "kill-child.ts")],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    conditions: ["agent-reach-source"],
    external: ["@photostructure/sqlite"],
  });
  return outputFiles[0]!.text;
}

describe("kill -9", () => {
  test("F01 TS2: every answered insert and update is there after any of many kills, and no other is half there", async () => {
    const directory = mkdtempSync(join(tmpdir(), "reach-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const code = childCode();
    const answered = { inserted: 0, completed: 0 };
    const startedAt = performance.now();
    let kills = 0;

    while (kills < KILLS_MIN || (kills < KILLS_MAX && performance.now() - startedAt < ENOUGH_MS)) {
      const child = start(code, directory);
      const exited = once(child, "exit");
      // Kills fall at different places of a group, and now and then amid the start.
      const killAfterLines = 1 + ((kills * 7) % 20);
      let lines = 0;
      for await (const line of createInterface({ input: child.stdout! })) {
        const [word, number] = line.split(" ");
        if (word === "found") expect(Number(number)).toBeGreaterThanOrEqual(answered.inserted);
        else answered[word as "inserted" | "completed"] = Number(number);
        if (++lines === killAfterLines) child.kill("SIGKILL");
      }
      const [, signal] = await exited;
      expect(signal).toBe("SIGKILL");
      kills += 1;
    }
    expect(answered.completed).toBeGreaterThan(kills);

    const engine = await openSqlite(directory);
    const tasks = await engine.tasks.list({}, { limit: 1_000_000, order: "oldest" });
    const names = tasks.map(({ messageId }) => messageId);
    expect(tasks.length).toBeGreaterThanOrEqual(answered.inserted);
    expect(names).toEqual(names.map((_, i) => `task-${i + 1}`));
    for (const [i, task] of tasks.slice(0, answered.completed).entries()) {
      expect(task).toMatchObject({
        state: "completed",
        revision: 2,
        data: `{"result":${i + 1}}`,
        input: `{"n":${i + 1}}`,
      });
    }
    await engine.close();
  }, 60_000);
});

function start(code: string, directory: string): ChildProcess {
  const child = spawn(process.execPath, ["--input-type=module"], {
    cwd: import.meta.dirname,
    env: { ...process.env, REACH_DATA: directory },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin!.end(code);
  return child;
}
