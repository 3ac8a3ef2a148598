import { type Logger, pino } from "pino";
import { plainLine } from "./plain-line.js";

export type Log = Logger;

export interface LogSettings {
  level: string;
  nodeId: string;
  /** Lines for people instead of JSON. */
  pretty: boolean;
}

/**
 * Structured JSON logs on standard error: one line a thing that an operator should know. Payloads are never logged.
 * Written at once, so that the last line before a crash is not the one that is missing.
 */
export function createLog({ level, nodeId, pretty }: LogSettings): Log {
  const out = pino.destination({ fd: 2, sync: true });
  const options = {
    level,
    base: { node: nodeId },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, pretty ? { write: (json) => out.write(plainLine(json)) } : out);
}
