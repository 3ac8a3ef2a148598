import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { Http } from "./http.js";
import { gate, within } from "./within.js";

const program = fileURLToPath(new URL("../../packages/cli/bin/agent-reach.js", import.meta.url));

/** Nested groups of settings, as they stand in a configuration file. */
export type Settings = Record<string, Record<string, unknown>>;

export interface NodeOptions {
  settings?: Settings;
  /** A data directory that outlives the node; without it the node gets its own, removed with it. */
  dataDir?: string;
  args?: string[];
  env?: Record<string, string>;
  port?: number;
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** One node in a process of its own, as users start it. */
export class ReachNode {
  readonly port: number;
  readonly dataDir: string;
  readonly #options: NodeOptions;
  readonly #home: string;
  #child: ChildProcess | undefined;
  #exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }> | undefined;
  stderr = "";
  stdout = "";

  private constructor(options: NodeOptions, port: number) {
    this.#options = options;
    this.#home = mkdtempSync(join(tmpdir(), "agent-reach-test-"));
    this.dataDir = options.dataDir ?? join(this.#home, "data");
    this.port = port;
    writeFileSync(this.#config, JSON.stringify({ log: { level: "warn" }, ...options.settings }));
  }

  static async start(options: NodeOptions = {}): Promise<ReachNode> {
    const node = new ReachNode(options, options.port ?? (await freePort()));
    try {
      await node.start();
      return node;
    } catch (error) {
      await node.dispose();
      throw error;
    }
  }

  /** Starts a process that is expected to refuse: answers its exit and its words. */
  static async refusal(options: NodeOptions): Promise<{ code: number | null; stderr: string; stdout: string }> {
    const node = new ReachNode(options, options.port ?? (await freePort()));
    try {
      node.#spawn();
      const { code } = await within(node.#exited!, "the process to refuse and exit", 60_000);
      return { code, stderr: node.stderr, stdout: node.stdout };
    } finally {
      await node.dispose();
    }
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/registry`;
  }

  get http(): Http {
    return new Http(`http://127.0.0.1:${this.port}`);
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error("the node is not running");
    return this.#child.pid;
  }

  /** Starts again on the same port and data. Resolves when /readyz says 200. */
  async start(): Promise<void> {
    this.#spawn();
    const ready = this.#untilReady();
    const died = this.#exited!.then(({ code, signal }) => {
      throw new Error(`the node exited (${code ?? signal}) before it was ready:\n${this.stderr}${this.stdout}`);
    });
    died.catch(() => {});
    await within(
      Promise.race([ready, died]),
      `the node on port ${this.port} to be ready; it said: ${this.stderr}`,
      60_000,
    );
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Resolves with how the process ended. */
  get ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.#exited === undefined) throw new Error("the node was never started");
    return this.#exited;
  }

  /** Sends the signal and waits for the end of the process. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.#child?.kill(signal);
    return within(this.#exited!, `the node to end after ${signal}`, 20_000);
  }

  async restart(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.kill(signal);
    await this.start();
  }

  /** Resident memory of the process, in bytes. */
  get residentBytes(): number {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, "utf8"));
    if (line === null) throw new Error("this system does not tell a process's memory in /proc");
    return Number(line[1]) * 1024;
  }

  async dispose(): Promise<void> {
    if (this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGCONT");
      await this.kill("SIGKILL");
    }
    rmSync(this.#home, { recursive: true, force: true });
  }

  get #config(): string {
    return join(this.#home, "agent-reach.yaml");
  }

  #spawn(): void {
    const args = ["serve", "--port", String(this.port), "--data", this.dataDir, "--config", this.#config];
    const env: NodeJS.ProcessEnv = { ...process.env, ...this.#options.env, NO_COLOR: "1" };
    // What the test runner sets for itself must not reach the node.
    delete env["NODE_OPTIONS"];
    delete env["VITEST"];
    delete env["NODE_ENV"];
    const child = spawn(process.execPath, [program, ...args, ...(this.#options.args ?? [])], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    const exit = gate<{ code: number | null; signal: NodeJS.Signals | null }>();
    this.#exited = exit.opened;
    child.once("close", (code, signal) => {
      running.delete(child);
      exit.open({ code, signal });
    });
    child.stdout.on("data", (chunk) => {
      this.stdout = (this.stdout + String(chunk)).slice(-100_000);
    });
    child.stderr.on("data", (chunk) => {
      this.stderr = (this.stderr + String(chunk)).slice(-100_000);
    });
    this.#child = child;
  }

  async #untilReady(): Promise<void> {
    const child = this.#child;
    while (child?.exitCode === null && child.signalCode === null) {
      const status = await statusOf(this.port);
      if (status === 200) return;
      // It says nothing that one could wait for on every version of its words: ask again, a moment later.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** One node for all tests of a file; ended with it. */
export function useNode(options: NodeOptions = {}): () => ReachNode {
  let node: ReachNode | undefined;
  beforeAll(async () => {
    node = await ReachNode.start(options);
  }, 90_000);
  afterAll(async () => {
    await node?.dispose();
  });
  return () => {
    if (node === undefined) throw new Error("the node was not started");
    return node;
  };
}

function statusOf(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, path: "/readyz", timeout: 1_000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.once("timeout", () => asked.destroy());
    asked.once("error", () => resolve(undefined));
    asked.end();
  });
}

/**
 * A port which nothing uses, below the range that systems hand out to outgoing connections: a node that restarts
 * must find its port free.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
