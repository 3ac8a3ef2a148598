import { type Logger, pino } from "pino";

export type Log = Logger;

/** Structured JSON logs on standard error: one line a thing that an operator should know. Payloads are never logged. */
export function createLog(level: string, nodeId: string): Log {
  return pino({ level, base: { node: nodeId }, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } }, pino.destination({ fd: 2, sync: true }));
}
