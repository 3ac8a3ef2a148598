import { type AgentErrorShape, limits } from "@agent-reach/protocol";
import type { AgentError } from "./agent-error.js";
import type { Connection } from "./connection.js";
import type { AbortReason } from "./delivery.js";
import { toJson } from "./json.js";

/**
 * The texts of an agent's answers, the same for `deliver` and `complete`: the inside of a JSON object, with its status,
 * data or error, and receipt.
 */
export class Answers {
  readonly #connection: Connection;
  readonly #isoMs: number[] = [];
  readonly #iso: string[] = [];

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** `data` is JSON text. */
  completed(data: string, startedAtMs: number, finishedAtMs: number, bytes = this.bytes(data)): string {
    const receipt = `{"startedAt":"${this.#time(startedAtMs)}","finishedAt":"${this.#time(finishedAtMs)}","bytes":${bytes}}`;
    return `"status":"completed","data":${data},"receipt":${receipt}`;
  }

  /** What never ran has no times, and so no receipt. Data that cannot be sent is left out. */
  failed(error: AgentErrorShape, startedAtMs?: number, finishedAtMs?: number): string {
    const text = toJson(error);
    const fits = typeof text === "string" && this.#connection.fits(text, limits.envelopeBytesMax);
    const answer = `"status":"failed","error":${fits ? text : JSON.stringify({ ...error, data: undefined })}`;
    if (startedAtMs === undefined || finishedAtMs === undefined) return answer;
    const receipt = `{"startedAt":"${this.#time(startedAtMs)}","finishedAt":"${this.#time(finishedAtMs)}"}`;
    return `${answer},"receipt":${receipt}`;
  }

  bytes(data: string): number {
    return this.#connection.options.platform.byteLength(data);
  }

  /** Thirty messages share a millisecond when it is busy; the texts of the last ones are kept. */
  #time(ms: number): string {
    const slot = ms & 63;
    if (this.#isoMs[slot] !== ms) {
      this.#isoMs[slot] = ms;
      this.#iso[slot] = new Date(ms).toISOString();
    }
    return this.#iso[slot]!;
  }
}

/** Texts only: a stack tells strangers about the inside of the house. */
export function agentError(thrown: Partial<AgentError>, aborted: AbortReason | undefined): AgentErrorShape {
  const message = typeof thrown.message === "string" ? cut(thrown.message, limits.textLengthMax) : "the handler failed";
  if (thrown.name === "AgentError" || thrown.name === "ReachError" || thrown.name === "Overloaded") {
    const code = thrown.name === "Overloaded" ? "OVERLOADED" : cut(String(thrown.code), limits.nameLengthMax);
    const error: AgentErrorShape = { code, message };
    if (thrown.data !== undefined) error.data = thrown.data;
    if (thrown.retryable !== undefined) error.retryable = thrown.retryable;
    if (thrown.name === "Overloaded") error.retryable = true;
    return error;
  }
  if (aborted === "cancel") return { code: "CANCELED", message };
  if (aborted === "deadline") return { code: "DEADLINE", message };
  if (aborted === "drain") return { code: "DRAINING", message, retryable: true };
  return { code: "INTERNAL_ERROR", message };
}

/** At most so many UTF-16 units, never half of a character. */
function cut(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text;
  const half = /[\ud800-\udbff]/.test(text[unitsMax - 1]!);
  return text.slice(0, half ? unitsMax - 1 : unitsMax);
}
