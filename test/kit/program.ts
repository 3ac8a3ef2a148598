import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { Mailbox } from "./mailbox.js";
import type { Json } from "./wire.js";
import { gate, patienceMs, within } from "./within.js";

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * An agent or a caller in a process of its own, so that a signal hits it and nobody else. It is told what to do by its
 * one argument, and tells what it does by messages with a `type`.
 */
export class Program {
  readonly told = new Mailbox<Json>();
  readonly ended: Promise<End>;
  readonly #child: ChildProcess;
  readonly #script: string;

  private constructor(script: string, options: Json) {
    this.#script = script;
    // What the test runner sets for itself must not reach a program of a user.
    const { NODE_OPTIONS: _, VITEST: __, NODE_ENV: ___, ...env } = process.env;
    const path = fileURLToPath(new URL(`../fault/programs/${script}`, import.meta.url));
    this.#child = fork(path, [JSON.stringify(options)], { env, execArgv: [], stdio: ["ignore", "ignore", 2, "ipc"] });
    running.add(this.#child);
    const end = gate<End>();
    this.ended = end.opened;
    this.#child.once("exit", (code, signal) => {
      running.delete(this.#child);
      end.open({ code, signal });
    });
    this.#child.on("message", (message) => this.told.put(message));
  }

  /** Resolves with what it says when it is up. */
  static async start(script: string, options: Json): Promise<Program> {
    const program = new Program(script, options);
    await program.next("up");
    return program;
  }

  /** The next message of this type; fails at once if the process ends before. */
  next(type: string, ms: number = 20_000): Promise<Json> {
    const what = `${this.#script} (${this.pid}) to say "${type}"`;
    const died = this.ended.then(({ code, signal }) => {
      throw new Error(`${what}, but it ended (${signal ?? code})`);
    });
    died.catch(() => {});
    const said = this.told.next(what, (message) => message.type === type, ms);
    said.catch(() => {});
    return Promise.race([said, died]);
  }

  /** Asks by a message of this type and waits for one of the same type. */
  ask(type: string, ms?: number): Promise<Json> {
    this.#child.send({ type });
    return this.next(type, ms);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends the signal and waits for the end. */
  kill(signal: NodeJS.Signals = "SIGKILL"): Promise<End> {
    this.#child.kill(signal);
    return within(this.ended, `${this.#script} to end after ${signal}`, 2 * patienceMs);
  }
}

/** Programs of a file's tests; they end with the test that started them. */
export function usePrograms(): (script: string, options: Json) => Promise<Program> {
  const started: Program[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((program) => program.kill()));
  });
  return async (script, options) => {
    const program = await Program.start(script, options);
    started.push(program);
    return program;
  };
}
