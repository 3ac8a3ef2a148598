import type { Operator } from "@agent-reach/sdk/operator";
import type { Command } from "commander";
import type { ExitCode } from "./exit.js";
import type { Io } from "./io.js";
import { createPaint, type Paint, wantsColor } from "./render/paint.js";

export const defaultUrl = "http://127.0.0.1:8800";

export interface GlobalOptions {
  url?: string;
  json?: boolean;
  /** Commander's name for the absence of --no-color. */
  color: boolean;
}

/** What every command gets: the node, and a way to speak. */
export interface Context {
  readonly io: Io;
  readonly json: boolean;
  readonly paint: Paint;
  readonly url: string;
  /** Made at first use, so that commands which need no node do not load its client. */
  operator(): Promise<Operator>;
  /** The result: `text()` for people, the value (or JSON text, to the digit) for programs. */
  print(value: unknown, text: () => string): void;
  printJsonText(json: string): void;
  /** A remark for people, on stderr; nothing with --json. */
  remark(text: string): void;
  /** Shows on a terminal that something is awaited. */
  waiting<T>(what: string, work: (say: (text: string) => void) => Promise<T>): Promise<T>;
  /** The exit code unless an error says otherwise. */
  exitWith(code: ExitCode): void;
}

/** A command's own file: declares its arguments and what it does. Loaded only when it is the one that was called. */
export interface CommandModule {
  define(command: Command, context: (command: Command) => Context): void | Promise<void>;
}

export function createContext(io: Io, options: GlobalOptions, exitWith: (code: ExitCode) => void): Context {
  const json = options.json === true;
  const url = options.url ?? (io.env["AGENT_REACH_URL"] || defaultUrl);
  let operator: Promise<Operator> | undefined;
  const printJsonText = (text: string) => io.out(text.endsWith("\n") ? text : `${text}\n`);
  return {
    io,
    json,
    url,
    paint: createPaint(!json && wantsColor({ color: options.color, env: io.env, isTty: io.outIsTty })),
    operator: () => {
      operator ??= import("@agent-reach/sdk/operator").then((sdk) => {
        const token = io.env["AGENT_REACH_TOKEN"];
        return new sdk.Operator({
          url,
          ...(token ? { token } : {}),
          fetch: (input, init) => fetch(input, interruptible(init, io.signal)),
        });
      });
      return operator;
    },
    print: (value, text) => (json ? printJsonText(JSON.stringify(value)) : io.out(text())),
    printJsonText,
    remark: (text) => {
      if (!json) io.err(`${text}\n`);
    },
    waiting: (what, work) => waiting(io, json, what, work),
    exitWith,
  };
}

/** Ctrl-C ends whatever is asked of the node. */
function interruptible(init: RequestInit | undefined, signal: AbortSignal): RequestInit {
  return { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal };
}

async function waiting<T>(
  io: Io,
  json: boolean,
  what: string,
  work: (say: (text: string) => void) => Promise<T>,
): Promise<T> {
  if (json || !io.errIsTty) return work(() => undefined);
  const { default: ora } = await import("ora");
  const spinner = ora({ text: what, stream: process.stderr, discardStdin: false }).start();
  try {
    return await work((text) => {
      spinner.text = text;
    });
  } finally {
    spinner.stop();
  }
}
