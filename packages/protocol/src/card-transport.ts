import type { CardRefusal } from "./card.js";
import { isObject, own } from "./json.js";
import { transportTypes } from "./schemas.js";
import { respell, spellingsOf } from "./spelling.js";
import type { Transport } from "./types.js";

/** An absolute http or https URL. User and password are left out on purpose: a card is shown to everybody. */
const webUrl = /^https?:\/\/(\[[0-9a-f:.]+\]|[^\s/?#:@[\]]+)(:\d{1,5})?([/?#]\S*)?$/i;

const spellings = spellingsOf(["type", "endpoint"]);

/** Types of the protocol that a later release will reach. */
const later: readonly unknown[] = ["a2a", "mcp", "queue"];

/** Which way the agent wants to be reached; without a word of its own, the way that the card came. */
export function readTransport(raw: unknown, arrivedBy: "ws" | "pull", warnings: string[]): Transport | CardRefusal {
  if (raw === undefined) return { type: arrivedBy };
  if (!isObject(raw)) return refusal("transport", "type", `transport must be an object like {"type":"${arrivedBy}"}.`);
  const { value } = respell(raw, spellings);
  value["type"] = own(value, "type") ?? arrivedBy;
  const { type } = value;
  if (later.includes(type)) {
    return refusal(
      "transport.type",
      "enum",
      `transport.type "${type}" is not reached by this release; it reaches ${transportTypes.join(", ")}.`,
    );
  }
  if (!(transportTypes as readonly unknown[]).includes(type)) {
    return refusal("transport.type", "enum", `transport.type must be one of ${transportTypes.join(", ")}.`);
  }
  const endpoint = own(value, "endpoint");
  if (type === "http") {
    if (endpoint === undefined)
      return refusal(
        "transport.endpoint",
        "required",
        "transport.endpoint is missing: an http agent is reached by POST to it.",
      );
    if (typeof endpoint !== "string" || !webUrl.test(endpoint)) {
      return refusal(
        "transport.endpoint",
        "format",
        "transport.endpoint must be an http or https URL without user and password.",
      );
    }
  }
  if (type === "ws" && arrivedBy === "pull") {
    if (endpoint !== undefined) {
      return refusal(
        "transport.type",
        "enum",
        'transport.type "ws" with an endpoint would have to be dialled, which this release does not; register on a WebSocket, or use pull or http.',
      );
    }
    value["type"] = "pull";
    warnings.push(
      "transport: registered over HTTP, so its deliveries wait to be pulled; for ws, register on a WebSocket.",
    );
  }
  return value as Transport;
}

const refusal = (path: string, rule: string, message: string): CardRefusal => ({ ok: false, path, rule, message });
