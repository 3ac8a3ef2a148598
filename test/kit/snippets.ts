import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { transformSync } from "esbuild";
import { root } from "./sources.js";
import { gate, within } from "./within.js";

/**
 * The code that the documentation shows, run as a reader would run it.
 *
 * A fence opens with a language, a role, and perhaps more: ```ts runnable file=greeter.mjs background
 *
 *   ts, bash, python   runnable    a whole program, run in the folder of its page, after those above it.
 *                                  `file=` saves it under that name; with `background` it runs until the page ends.
 *   bash               serve       a command that starts a node: it must become ready, and stop when told to.
 *   bash               install     what one types in a fresh clone: `npm ci`, and scripts of package.json.
 *   json               card        a card: it is registered, or refused at `refused=PATH`.
 *   yaml               settings    a configuration file: it is accepted.
 *   text               drawing     nothing to run.
 *
 * A comment `→ …` in a program says what it prints there; `…` within stands for anything. All such lines must come, in order.
 * The address 127.0.0.1:8800 becomes that of the page's node.
 */
export interface Snippet {
  /** `docs/guide/cards.md:12`, for titles and failures. */
  at: string;
  info: string;
  language: string;
  role: string;
  options: Record<string, string>;
  code: string;
}

export const roles: Record<string, readonly string[]> = {
  ts: ["runnable"],
  bash: ["runnable", "serve", "install"],
  python: ["runnable"],
  json: ["card"],
  yaml: ["settings"],
  text: ["drawing"],
};

export function snippetsOf(path: string): Snippet[] {
  const found: Snippet[] = [];
  const lines = readFileSync(join(root, path), "utf8").split("\n");
  for (let i = 0; i < lines.length; i++) {
    const opened = /^\s*(`{3,}|~{3,})\s*(.*)$/.exec(lines[i]!);
    if (opened === null) continue;
    const [, fence, info] = opened as unknown as [string, string, string];
    const at = `${path}:${i + 1}`;
    const code: string[] = [];
    while (++i < lines.length && lines[i]!.trim() !== fence) code.push(lines[i]!);
    if (i >= lines.length) throw new Error(`${at}: the fence is never closed`);
    const [language = "", role = "", ...more] = info.trim().split(/\s+/);
    const options = Object.fromEntries(
      more.map((word) => word.split("=", 2) as [string, string?]).map(([key, value]) => [key, value ?? "yes"]),
    );
    found.push({ at, info: info.trim(), language, role, options, code: `${code.join("\n")}\n` });
  }
  return found;
}

/** The lines which a program says that it prints. */
export function expectations(code: string): string[] {
  return [...code.matchAll(/(?:\/\/|#)\s*→[ \t]*(.+)$/gm)].map((match) => match[1]!.trim());
}

/** The first expectation that the output lacks, in order. */
export function missing(output: string, expected: readonly string[]): string | undefined {
  const squeezed = output.replace(/\s+/g, " ");
  let from = 0;
  for (const text of expected) {
    const parts = text
      .replace(/\s+/g, " ")
      .split("…")
      .filter((part) => part.trim() !== "");
    for (const part of parts) {
      const at = squeezed.indexOf(part.trim(), from);
      if (at < 0) return text;
      from = at + part.trim().length;
    }
  }
  return undefined;
}

export const isRunnable = ({ role }: Snippet): boolean => role === "runnable";

/** A folder in which the snippets of one page run, one after another. */
export class Page {
  readonly directory: string;
  readonly #port: number;
  readonly #background = new Set<ChildProcess>();

  constructor(port: number) {
    this.#port = port;
    // Inside of the checkout, so that `import "agent-reach/sdk"` and `npx agent-reach` find what `npm ci` put there.
    const parent = join(root, ".agent-reach");
    mkdirSync(parent, { recursive: true });
    this.directory = mkdtempSync(join(parent, "docs-"));
    // What npx does with a command that is installed, without the seconds in which it finds that out; `serve` and the test of
    // the packages use the real one.
    mkdirSync(join(this.directory, ".bin"));
    writeFileSync(join(this.directory, ".bin", "npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  }

  async run({ at, language, options, code }: Snippet, patienceMs: number): Promise<void> {
    const own = code.replaceAll("127.0.0.1:8800", `127.0.0.1:${this.#port}`);
    const name = options["file"] ?? `snippet-${at.split(":").pop()}.${language}`;
    const { file, command } = this.#save(name, language, own);
    const output = { text: "", errors: "" };
    const expected = expectations(code);
    const ended = gate<number | string>();
    const satisfied = gate<number | string>();
    const child = spawn(command[0]!, [...command.slice(1), file], {
      cwd: this.directory,
      env: this.#env(join(this.directory, ".bin")),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const hear = (part: "text" | "errors") => (chunk: Buffer) => {
      output[part] += String(chunk);
      if (missing(output.text, expected) === undefined) satisfied.open(0);
    };
    child.stdout.on("data", hear("text"));
    child.stderr.on("data", hear("errors"));
    child.once("error", (error) => ended.open(error.message));
    const background = options["background"] !== undefined;
    // A background program of bash may leave its pipes to its children; what counts for others is the end of the output.
    child.once(background ? "exit" : "close", (status, signal) => ended.open(status ?? signal ?? "gone"));
    this.#background.add(child);
    if (background && expected.length === 0) satisfied.open(0);
    const wait = background ? Promise.race([satisfied.opened, ended.opened]) : ended.opened;
    const story = () => `${at} printed:\n${output.text}\n${output.errors}`;
    const status = await within(wait, `the snippet of ${at}`, patienceMs).catch((error: Error) => {
      throw new Error(`${error.message}; ${story()}`);
    });
    if (!background) this.#background.delete(child);
    if (String(status) !== (options["exit"] ?? "0")) throw new Error(`exit ${status}; ${story()}`);
    const lacking = missing(output.text, expected);
    if (lacking !== undefined) throw new Error(`"${lacking}" was not printed (in this order); ${story()}`);
  }

  /** Starts a node by the printed command, with a port and a folder of its own unless the command names them. */
  async serve({ at, code }: Snippet, port: number, patienceMs: number): Promise<void> {
    const words = code.trim().split(/\s+/);
    if (!words.includes("--port")) words.push("--port", String(port));
    else words[words.indexOf("--port") + 1] = String(port);
    if (!words.includes("--data")) words.push("--data", "served");
    else words[words.indexOf("--data") + 1] = "served";
    // In a process group of its own, which is then interrupted as a terminal does by Ctrl-C: npx has children.
    const child = spawn("bash", ["-c", words.join(" ")], {
      cwd: this.directory,
      env: this.#env(),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#background.add(child);
    let output = "";
    const ready = gate();
    const closed = gate<number | null>();
    const hear = (chunk: Buffer) => {
      output += String(chunk);
      if (/ is ready\n/.test(output)) ready.open();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("close", (status) => closed.open(status));
    const died = closed.opened.then((status) => {
      throw new Error(`${at}: the node ended with ${status}:\n${output}`);
    });
    died.catch(() => {});
    try {
      await within(Promise.race([ready.opened, died]), `the node of ${at} to be ready`, patienceMs / 2);
      process.kill(-child.pid!, "SIGINT");
      await within(closed.opened, `the node of ${at} to stop`, patienceMs / 2);
    } catch (error) {
      if (child.exitCode === null) process.kill(-child.pid!, "SIGKILL");
      throw error;
    } finally {
      this.#background.delete(child);
    }
  }

  dispose(): void {
    for (const child of this.#background) child.kill("SIGKILL");
    rmSync(this.directory, { recursive: true, force: true });
  }

  #save(name: string, language: string, code: string): { file: string; command: string[] } {
    if (language === "bash") {
      const file = join(this.directory, name);
      writeFileSync(file, code);
      return { file, command: ["bash", "-euo", "pipefail"] };
    }
    if (language === "python") {
      const file = join(this.directory, name.replace(/\.python$/, ".py"));
      writeFileSync(file, code);
      return { file, command: ["python3", "-u"] };
    }
    const file = join(this.directory, name.replace(/\.ts$/, ".mjs"));
    writeFileSync(file, transformSync(code, { loader: "ts", format: "esm", target: "node20" }).code);
    return { file, command: [process.execPath] };
  }

  #env(...first: string[]): NodeJS.ProcessEnv {
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      NO_COLOR: "1",
      AGENT_REACH_URL: `http://127.0.0.1:${this.#port}`,
      PATH: [...first, join(root, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(delimiter),
    };
    for (const name of ["NODE_OPTIONS", "VITEST", "NODE_ENV"]) delete env[name];
    return env;
  }
}
