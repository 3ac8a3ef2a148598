import { readFile } from "node:fs/promises";
import { ReachError } from "@agent-reach/protocol";
import type { Io } from "./io.js";

const duration = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/;

export const isDuration = (text: string): boolean => duration.test(text.trim());

const perUnit: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A mistake of whoever typed the command: exit code 2. */
export function usageError(message: string): ReachError {
  return new ReachError("INVALID_REQUEST", message);
}

/**
 * "30s" in milliseconds. A bare number is milliseconds, as on the wire; a small one is refused, since nobody waits for
 * 30 ms and everybody means seconds.
 */
export function parseDurationMs(text: string): number {
  const parts = duration.exec(text.trim());
  if (parts === null)
    throw usageError(`${JSON.stringify(text)} is not a duration; write one like 500ms, 30s, 5m or 24h`);
  const value = Number(parts[1]);
  if (parts[2] === undefined && value > 0 && value < 100) {
    throw usageError(`${text} would be ${text} milliseconds; say which unit you mean: ${text}s or ${text}ms`);
  }
  return Math.round(value * perUnit[parts[2] ?? "ms"]!);
}

/** A moment as ISO 8601: given as one, or as how long ago ("2h"). */
export function parseSince(text: string, now: number): string {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text.trim())) return new Date(now - parseDurationMs(text)).toISOString();
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw usageError(`${JSON.stringify(text)} is neither a time like 2026-01-31T08:00:00Z nor a duration like 2h`);
  return new Date(at).toISOString();
}

export function parseWhole(text: string, name: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw usageError(`${name} must be a whole number from ${min} to ${max}, but is ${JSON.stringify(text)}`);
  return value;
}

/** For options that may be given several times. */
export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/**
 * The JSON text of an input: the argument itself, `@file`, or `-` for standard input; `{}` when there is none.
 * It is checked and passed on as it is written, so that long numbers keep their digits.
 */
export async function readJsonText(argument: string | undefined, io: Pick<Io, "stdin">): Promise<string> {
  if (argument === undefined) return "{}";
  const { text, source } = await readSource(argument, io);
  try {
    JSON.parse(text);
  } catch (error) {
    const hint = source === "the input" ? `; put it in single quotes, like '{"order_id": "7"}'` : "";
    throw usageError(`${source} is not JSON (${(error as Error).message})${hint}`);
  }
  return text.trim();
}

/** The text of a file that an argument names, or of standard input for `-`. */
export async function readTextFile(file: string, io: Pick<Io, "stdin">): Promise<string> {
  if (file === "-") return io.stdin();
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw usageError(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? error}); name a file, or - for standard input`,
    );
  }
}

async function readSource(argument: string, io: Pick<Io, "stdin">): Promise<{ text: string; source: string }> {
  if (argument === "-") return { text: await io.stdin(), source: "standard input" };
  if (!argument.startsWith("@")) return { text: argument, source: "the input" };
  const file = argument.slice(1);
  try {
    return { text: (await readFile(file, "utf8")).replace(/^\uFEFF/, ""), source: file };
  } catch (error) {
    throw usageError(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? error}); @ in front of an input names a file`,
    );
  }
}

/** A JSON object of which one member is text that must not be parsed again. */
export function objectWithRaw(members: Readonly<Record<string, unknown>>, rawKey: string, rawText: string): string {
  const head = JSON.stringify(members).slice(1, -1);
  return `{${head}${head === "" ? "" : ","}${JSON.stringify(rawKey)}:${rawText}}`;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isMessageId = (text: string): boolean => uuid.test(text);

/** Whether one word could be the name of a capability; anything else is what somebody wants, in words. */
export function couldBeName(text: string): boolean {
  return /^[A-Za-z0-9_.:/@-]+$/.test(text);
}
