import { createHmac } from "node:crypto";
import { limits } from "@agent-reach/protocol";
import { Agent, request } from "undici";
import { rawAt, Spans, scan } from "../json/raw.js";
import type { Link, Outgoing, Receiver } from "../ports/delivery.js";
import type { System } from "../ports/system.js";
import { errorOf } from "../router/agent-error.js";
import { oversize, tooLarge } from "../router/result-size.js";

export interface WebhookSettings {
  connectTimeoutMs: number;
  /** How long the endpoint may take for its first byte; it answers 202 if the work takes longer. */
  answerTimeoutMs: number;
  /** Largest answer that is read, and largest `data` in it. */
  answerBytesMax: number;
  dataBytesMax: number;
}

/**
 * Delivery to an agent behind an HTTP endpoint: one signed POST per message over kept-alive connections. 200 answers like
 * `deliver`, 202 accepts, 429 and 503 refuse; anything else leaves the outcome unknown.
 */
export class WebhookLink implements Link {
  readonly kind = "http";
  readonly room = Number.POSITIVE_INFINITY;
  private readonly agent: Agent;
  private closed = false;

  constructor(
    private readonly endpoint: string,
    private readonly key: () => string,
    private readonly system: System,
    private readonly settings: WebhookSettings,
  ) {
    this.agent = new Agent({
      connect: { timeout: settings.connectTimeoutMs },
      headersTimeout: settings.answerTimeoutMs,
      bodyTimeout: settings.answerTimeoutMs,
      maxResponseSize: settings.answerBytesMax,
      connections: 128,
    });
  }

  deliver(message: Outgoing, receiver: Receiver): boolean {
    if (this.closed) return false;
    this.post(message, receiver).catch(() => receiver.lost());
    return true;
  }

  private async post(message: Outgoing, receiver: Receiver): Promise<void> {
    const body = `{"envelope":${message.envelope},"attempt":${message.attempt}}`;
    const response = await request(this.endpoint, {
      method: "POST",
      dispatcher: this.agent,
      headers: {
        "content-type": "application/json",
        "agent-reach-signature": sign(body, this.key(), this.system.now()),
      },
      body,
    }).catch((error: Error & { code?: string }) => {
      // Nothing was sent when no connection came about; then the message may go elsewhere without any doubt.
      if (NOT_CONNECTED.has(error.code ?? "")) return error;
      throw error;
    });
    if (response instanceof Error)
      return receiver.refused("UNAVAILABLE", `no connection to the endpoint: ${response.message}`, undefined);
    const text = await response.body.text().catch((error: Error & { code?: string }) => {
      if (error.code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return undefined;
      throw error;
    });
    // It was done; "lost" would have it done again, with the same answer.
    if (text === undefined) {
      const { answerBytesMax, dataBytesMax } = this.settings;
      await receiver.failed(tooLarge(`over ${answerBytesMax} bytes`, dataBytesMax), undefined);
      return;
    }
    const { statusCode } = response;
    if (statusCode === 202) return receiver.accepted();
    if (statusCode === 429 || statusCode === 503)
      return receiver.refused(
        "OVERLOADED",
        `the endpoint answered ${statusCode}`,
        retryAfterMs(response.headers["retry-after"], this.system.now()),
      );
    if (statusCode >= 400 && statusCode < 500)
      return receiver.refused("REFUSED", `the endpoint answered ${statusCode}`, undefined);
    if (statusCode !== 200) return receiver.lost();
    const answer = parse(text);
    const depth = depthOf(text);
    if (depth > limits.nestingMax) {
      const message = `the endpoint's answer nests ${depth} levels deep; ${limits.nestingMax} is the most`;
      await receiver.failed({ code: "INVALID_ANSWER", message }, undefined);
      return;
    }
    const receipt = rawAt(text, ["receipt"]);
    switch (answer?.["status"]) {
      case "accepted":
        return receiver.accepted();
      case "completed": {
        const data = rawAt(text, ["data"]) ?? "null";
        const large = oversize(data, this.settings.dataBytesMax);
        if (large !== undefined) await receiver.failed(large, receipt);
        else await receiver.completed(data, receipt, answer["data"]);
        return;
      }
      case "failed":
        await receiver.failed(errorOf(answer["error"]), receipt);
        return;
      default:
        await receiver.failed(
          { code: "INVALID_ANSWER", message: "the endpoint answered 200 with neither accepted, completed nor failed" },
          undefined,
        );
    }
  }

  cancel(): void {
    // A webhook has no way back but its answer; the late one is recorded.
  }

  close(): void {
    this.closed = true;
    void this.agent.close();
  }
}

const NOT_CONNECTED = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT", "EAI_AGAIN"]);

/** `t=UNIX,v1=HEX`: HMAC-SHA256 of `t.body` with the instanceKey. */
export function sign(body: string, key: string, now: number): string {
  const t = Math.floor(now / 1000);
  return `t=${t},v1=${createHmac("sha256", key).update(`${t}.${body}`).digest("hex")}`;
}

function retryAfterMs(header: string | string[] | undefined, now: number): number {
  const value = Array.isArray(header) ? header[0] : header;
  if (value === undefined) return 1000;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? 1000 : Math.max(0, at - now);
}

function depthOf(text: string): number {
  const spans = new Spans();
  scan(text, spans, new Spans());
  return spans.depth;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
