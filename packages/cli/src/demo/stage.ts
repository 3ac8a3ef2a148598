import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** How long a process may take to be ready, and to leave when it is asked to, before it is ended. */
const readyMs = 30_000;
const leaveMs = 5_000;
/** Characters kept of what a process said, to be shown if it fails. */
const saidMax = 4_000;

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One process of the demo. */
export interface Actor {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Its last words, on either stream. */
  said: string;
  /** Whether its end is part of the story. */
  dismissed: boolean;
}

/**
 * The processes of the demo and the directory they work in.
 *
 * S1  Every process is started here, has a process group of its own, and is ended here, by its pid.
 * S2  After `end()` none is left and the directory is gone; the same holds when this process exits in any other way, and
 *     when it is killed the processes end by themselves (leash.ts).
 */
export class Stage {
  readonly dir = mkdtempSync(join(tmpdir(), "agent-reach-demo-"));
  /** Of every process that ever was here. */
  readonly pids: number[] = [];
  /** Resolves when a process ends that no part of the story asked to, with what there is to say about it. */
  readonly fallen: Promise<string>;
  readonly #onFallen: (what: string) => void;
  readonly #running = new Map<Actor, ChildProcess>();
  readonly #onExit = () => this.#sweep();
  #closed = false;

  constructor() {
    const { promise, resolve } = withResolvers<string>();
    this.fallen = promise;
    this.#onFallen = resolve;
    process.once("exit", this.#onExit);
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /**
   * Starts a script and resolves with the line that says it is ready: the first one that `isReady` accepts.
   * `script` is relative to this folder.
   */
  async start(
    name: string,
    script: string,
    args: string[],
    isReady: (line: string) => boolean = (line) => line === "ready",
  ): Promise<{ actor: Actor; line: string }> {
    if (this.#closed) throw new Error(`the demo is over; ${name} was not started`);
    const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
    const leash = new URL("./leash.js", import.meta.url).href;
    const child = spawn(process.execPath, ["--import", leash, path(script), ...args], {
      cwd: this.dir,
      env: ownEnvironment(),
      // Ctrl-C in a terminal reaches this process alone, which then ends the others in order.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { promise: exited, resolve: onExited } = withResolvers<Exit>();
    const { promise: ready, resolve: onReady } = withResolvers<string>();
    const actor: Actor = { name, pid: child.pid ?? -1, exited, said: "", dismissed: false };
    this.#running.set(actor, child);
    if (child.pid !== undefined) this.pids.push(child.pid);
    child.once("error", (error) => {
      actor.said += String(error);
      onExited({ code: null, signal: null });
    });
    child.once("close", (code, signal) => {
      this.#running.delete(actor);
      if (!actor.dismissed)
        this.#onFallen(`${name} (pid ${actor.pid}) ended by itself (${code ?? signal})${lastWords(actor)}`);
      onExited({ code, signal });
    });
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      actor.said = (actor.said + chunk).slice(-saidMax);
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (isReady(line)) onReady(line);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      actor.said = (actor.said + chunk).slice(-saidMax);
    });
    const died = exited.then(({ code, signal }) => {
      throw new Error(`${name} ended (${code ?? signal}) before it was ready${lastWords(actor)}`);
    });
    return { actor, line: await within(Promise.race([ready, died]), readyMs, `${name} to be ready`) };
  }

  /** Sends the signal and resolves at the end of the process. One that does not leave in time is ended. */
  async dismiss(actor: Actor, signal: NodeJS.Signals, waitMs = leaveMs): Promise<Exit> {
    actor.dismissed = true;
    const child = this.#running.get(actor);
    child?.kill(signal);
    const late = setTimeout(() => child?.kill("SIGKILL"), waitMs);
    try {
      return await actor.exited;
    } finally {
      clearTimeout(late);
    }
  }

  /** The last come leave first, so that agents find their node when they say goodbye. */
  async end(): Promise<void> {
    this.#closed = true;
    const [first, ...others] = [...this.#running.keys()];
    await Promise.all(others.map((actor) => this.dismiss(actor, "SIGTERM", 2_000)));
    if (first !== undefined) await this.dismiss(first, "SIGTERM");
    process.removeListener("exit", this.#onExit);
    this.#sweep();
  }

  #sweep(): void {
    for (const child of this.#running.values()) child.kill("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function lastWords({ said }: Actor): string {
  const words = said.trim().replace(/^ready$/m, "");
  return words === "" ? "" : `; it said: ${words}`;
}

/** Settings of a node that the user runs elsewhere are not meant for this one. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("AGENT_REACH_"));
  return { ...Object.fromEntries(kept), NO_COLOR: "1" };
}

/** The promise, or an error that says what was waited for. */
export function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  const { promise: late, reject } = withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`waited ${ms / 1000} s in vain for ${what}`)), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Promise.withResolvers, which Node has from version 22 on. */
export function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
