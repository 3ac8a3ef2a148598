import type { Offer } from "../registry/instance.js";
import { iso } from "../time/iso.js";
import type { Hop } from "./chain.js";

/** What the text of an envelope needs to know of a call. Ids are UUIDs and hex by now, so they need no escaping. */
export interface Sendable {
  readonly kind: "call" | "task";
  readonly messageId: string;
  readonly traceId: string;
  readonly idempotencyKey: string;
  /** JSON text of who sent it. */
  readonly sourceJson: string;
  readonly chain: readonly Hop[];
}

/** What of the sender's own envelope travels on. */
export interface Sent {
  readonly inputText: string;
  readonly sessionRef?: string | undefined;
  readonly sequence?: number | undefined;
  readonly parentId?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly topic?: string | undefined;
}

/**
 * The envelope as the agent gets it, put together as text: the input is passed on as it came and nothing is serialised
 * twice. `timeoutMs` is what remains; `now` is wall ms.
 */
export function envelopeText(message: Sendable, request: Sent, offer: Offer, timeoutMs: number, now: number): string {
  let text = `{"messageId":"${message.messageId}","traceId":"${message.traceId}","kind":"${message.kind}","capability":${offer.capabilityJson},"input":${request.inputText},"source":${message.sourceJson},"target":${offer.targetJson},"idempotencyKey":${message.idempotencyKey === message.messageId ? `"${message.messageId}"` : JSON.stringify(message.idempotencyKey)}`;
  if (request.topic !== undefined) text += `,"topic":${JSON.stringify(request.topic)}`;
  if (request.sessionRef !== undefined) text += `,"sessionRef":${JSON.stringify(request.sessionRef)}`;
  if (request.sequence !== undefined) text += `,"sequence":${request.sequence}`;
  if (request.parentId !== undefined) text += `,"parentId":"${request.parentId}"`;
  if (request.labels !== undefined) text += `,"labels":${JSON.stringify(request.labels)}`;
  if (message.chain.length > 0) text += `,"chain":${JSON.stringify(message.chain)}`;
  return `${text},"timestamp":"${iso(now)}","timeoutMs":${timeoutMs}}`;
}
