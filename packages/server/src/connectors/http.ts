import { createHmac } from "node:crypto";
import { limits } from "@agent-reach/protocol";
import { rawAt, Spans, scan } from "../json/raw.js";
import type { Link, Outgoing, Receiver } from "../ports/delivery.js";
import type { System } from "../ports/system.js";
import { errorOf } from "../router/agent-error.js";
import { oversize, tooLarge } from "../router/result-size.js";
import { Endpoint, type EndpointSettings } from "./endpoint.js";

export interface WebhookSettings extends EndpointSettings {
  /** Largest `data` in an answer. */
  dataBytesMax: number;
}

/**
 * Delivery to an agent behind an HTTP endpoint: one signed POST per message over kept-alive connections. 200 answers like
 * `deliver`, 202 accepts, 429 and 503 refuse; anything else leaves the outcome unknown.
 */
export class WebhookLink implements Link {
  readonly kind = "http";
  readonly room = Number.POSITIVE_INFINITY;
  private readonly endpoint: Endpoint;
  private closed = false;

  constructor(
    url: string,
    private readonly key: () => string,
    private readonly system: System,
    private readonly settings: WebhookSettings,
  ) {
    this.endpoint = new Endpoint(url, system, settings);
  }

  deliver(message: Outgoing, receiver: Receiver): boolean {
    if (this.closed) return false;
    this.post(message, receiver).catch(() => receiver.lost());
    return true;
  }

  private async post(message: Outgoing, receiver: Receiver): Promise<void> {
    const body = `{"envelope":${message.envelope},"attempt":${message.attempt}}`;
    const headers = {
      "content-type": "application/json",
      "agent-reach-signature": sign(body, this.key(), this.system.now()),
    };
    const exchange = await this.endpoint.post(body, headers, message);
    switch (exchange.end) {
      case "answered":
        return this.hear(exchange.status, exchange.text, exchange.retryAfter, receiver);
      case "unconnected":
        // Nothing was sent, so the message may go elsewhere without any doubt.
        return receiver.refused(
          "UNAVAILABLE",
          `no connection to the endpoint: ${exchange.reason}`,
          undefined,
          exchange.expiry,
        );
      case "expired":
        return receiver.lost(exchange.expiry);
      case "broken":
        return receiver.lost();
      case "oversize": {
        // It was done; "lost" would have it done again, with the same answer.
        const { answerBytesMax, dataBytesMax } = this.settings;
        await receiver.failed(tooLarge(`over ${answerBytesMax} bytes`, dataBytesMax), undefined);
      }
    }
  }

  private async hear(status: number, text: string, retryAfter: string | undefined, receiver: Receiver): Promise<void> {
    if (status === 202) return receiver.accepted();
    if (status === 429 || status === 503)
      return receiver.refused(
        "OVERLOADED",
        `the endpoint answered ${status}`,
        retryAfterMs(retryAfter, this.system.now()),
      );
    if (status >= 400 && status < 500) return receiver.refused("REFUSED", `the endpoint answered ${status}`, undefined);
    if (status !== 200) return receiver.lost();
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
    this.endpoint.close();
  }
}

/** `t=UNIX,v1=HEX`: HMAC-SHA256 of `t.body` with the instanceKey. */
export function sign(body: string, key: string, now: number): string {
  const t = Math.floor(now / 1000);
  return `t=${t},v1=${createHmac("sha256", key).update(`${t}.${body}`).digest("hex")}`;
}

function retryAfterMs(value: string | undefined, now: number): number {
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
