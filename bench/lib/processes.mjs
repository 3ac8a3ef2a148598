// Every part of a measurement (caller, router, agent) is a process of its own, as it would be in life.
// This file starts them, and ends them by pid: on success, on failure and on Ctrl-C.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const benchDir = fileURLToPath(new URL("..", import.meta.url));
const running = new Set();
/** How long a process may take to leave after SIGTERM: a node drains and, when profiled, writes its profile. */
const graceMs = 10_000;

// The databases lie beside the checkout and not in the system's temporary directory, which is often a RAM disk
// where a commit costs nothing. `.agent-reach/` is ignored by git.
const scratchDir = join(benchDir, "..", ".agent-reach", `bench-${process.pid}`);
let scratchCount = 0;

/** A fresh directory on a real disk, removed when the bench ends. */
export function scratch() {
  const dir = join(scratchDir, String(++scratchCount));
  mkdirSync(dir, { recursive: true });
  return dir;
}

function remember(child) {
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

async function stopChild(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await gone;
  clearTimeout(force);
}

/**
 * Starts a script below bench/ in the given role; `ask(verb, options)` calls it. See part.mjs.
 * What it prints goes to our stderr, or to the file descriptor `output`.
 */
export function startPart(script, role = "", { nodeOptions = [], output = 2 } = {}) {
  const label = `${script} ${role}`.trim();
  const stdio = ["ignore", output, output, "ipc"];
  const child = remember(fork(join(benchDir, script), [role], { stdio, execArgv: nodeOptions }));
  const waiting = new Map();
  let lastId = 0;
  child.on("message", ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(new Error(`${label}: ${error}`));
  });
  child.once("exit", (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${label} ended early (${signal ?? code})`));
    waiting.clear();
  });
  return {
    pid: child.pid,
    ask: (verb, options) =>
      new Promise((resolve, reject) => {
        waiting.set(++lastId, { resolve, reject });
        child.send({ id: lastId, verb, options });
      }),
    stop: () => stopChild(child),
  };
}

/** Starts any program; its output goes to the file descriptor `output`. */
export function startProgram(args, { output }) {
  const child = remember(spawn(process.execPath, args, { stdio: ["ignore", output, output] }));
  return { pid: child.pid, gone: once(child, "exit"), stop: () => stopChild(child) };
}

/** Ends whatever still runs, and removes the scratch directories. */
export async function stopEverything() {
  // Clients first, so that none of them complains of a node that has gone.
  const [clients, others] = [[], []];
  for (const child of running) (child.connected ? clients : others).push(child);
  await Promise.all(clients.map(stopChild));
  await Promise.all(others.map(stopChild));
  rmSync(scratchDir, { recursive: true, force: true });
}
