/**
 * Reads a card in any accepted spelling (REG-8) into the canonical one, or says where it breaks a rule (REG-9).
 *
 * C1  Never throws, whatever the JSON, and never touches a prototype.
 * C2  The canonical card read again is the same card.
 * C3  Fields that nobody knows are kept as they came; null counts as absent.
 * C4  Hints are not content: they leave the card, so that a change of load is no new version (LIVE-11).
 *
 * It does not say whether an inputSchema is a valid JSON Schema; that needs a validator and is the registry's work.
 */
import { capabilitiesOf, type SentCapability } from "./card-capabilities.js";
import { type CardHints, takeHints } from "./card-hints.js";
import { readTransport } from "./card-transport.js";
import { type Violation, violation } from "./check.js";
import { isObject, type JsonObject, measure, own, pathOf, put } from "./json.js";
import { defaults, limits } from "./limits.js";
import * as schemas from "./schemas.js";
import { respell, spellingsOf } from "./spelling.js";
import type { Capability, Card, Transport } from "./types.js";

/** A card with its defaults filled in. `heartbeatIntervalSec` stays absent if it was: its default is a setting of the node. */
export type CanonicalCard = Card & {
  name: string;
  maxConcurrentTasks: number;
  transport: Transport;
  capabilities: Capability[];
  [unknown: string]: unknown;
};

export interface ReadCardOptions {
  /** What the card arrived over: the transport of a card that names none. */
  transport: "ws" | "pull";
}

/** `bytes`: of the canonical card as compact JSON. */
export type CardReading =
  | { ok: true; card: CanonicalCard; hints: CardHints; warnings: string[]; bytes: number }
  | CardRefusal;

/** `path` names the field as it was sent, empty for the card as a whole; `rule` is the keyword or limit that it breaks. */
export interface CardRefusal {
  ok: false;
  path: string;
  rule: string;
  message: string;
}

const { capabilities: _, ...headProperties } = schemas.Card.properties;
const headSchema = { ...schemas.Card, properties: headProperties } as unknown as JsonObject;
const capabilitySchema = schemas.Capability as unknown as JsonObject;
const cardSpellings = spellingsOf(Object.keys(schemas.Card.properties), { displayName: "name" });

export function readCard(raw: unknown, options: ReadCardOptions): CardReading {
  if (!isObject(raw)) return refusal("", "type", `The card must be an object, not ${kindOf(raw)}.`);
  if (measure(raw, limits.nestingMax).depth > limits.nestingMax) return tooDeep();

  const warnings: string[] = [];
  const { value: head, sentAs } = respell(raw, cardSpellings);
  const hints = takeHints(head);
  const identity = identify(head, warnings);
  if (identity !== undefined) return identity;
  const sent = capabilitiesOf(head, warnings);
  if ("ok" in sent) return sent;
  delete head["capabilities"];
  liftRegion(head);
  if (own(head, "name") === undefined || head["name"] === "") head["name"] = head["agentId"];
  head["maxConcurrentTasks"] ??= defaults.maxConcurrentTasks;
  const transport = readTransport(own(head, "transport"), options.transport, warnings);
  if ("ok" in transport) return transport;
  head["transport"] = transport;

  const broken = violation(headSchema, head);
  if (broken !== undefined) return refusalOf(broken, [], sentAs);
  const brokenCapability = checkCapabilities(sent);
  if (brokenCapability !== undefined) return brokenCapability;

  head["capabilities"] = sent.map((entry) => entry.value);
  const size = measure(head, limits.nestingMax);
  if (size.depth > limits.nestingMax) return tooDeep();
  if (size.bytes > limits.cardBytesMax) {
    return refusal(
      "",
      "cardBytesMax",
      `The card has ${size.bytes} bytes; at most ${limits.cardBytesMax} are accepted. Move long texts behind a link.`,
    );
  }
  warnOfIdempotence(sent, warnings);
  return { ok: true, card: head as CanonicalCard, hints, warnings, bytes: size.bytes };
}

/** Sees to it that there is an agentId. An A2A card has none and gets one from its name; other documents are named for what they are. */
function identify(head: JsonObject, warnings: string[]): CardRefusal | undefined {
  if (own(head, "agentId") !== undefined) return undefined;
  const name = own(head, "name");
  const skills = own(head, "skills");
  const isAgentCard = typeof name === "string" && Array.isArray(skills) && skills.some(isObject);
  if (!isAgentCard) {
    const advice = 'Choose one that stays the same over restarts, like "order-agent-01".';
    return refusal("agentId", "required", `agentId is missing.${lookalike(head)} ${advice}`);
  }
  const slug = slugOf(name);
  if (slug === "") {
    const shown = JSON.stringify(name.slice(0, 64));
    const message = `agentId is missing, and none can be made from the name ${shown}: it has no Latin letter or digit.`;
    return refusal("agentId", "required", message);
  }
  head["agentId"] = slug;
  warnings.push(`agentId: the card has none; "${slug}" was made from its name.`);
  return undefined;
}

/** What a document without agentId probably is, so that the one who sent it sees the mistake. */
function lookalike(head: JsonObject): string {
  if (
    ["tools", "serverInfo", "mcpServers", "mcpVersion", "packages"].some((key) => Object.hasOwn(head, key)) ||
    own(head, "type") === "mcp-server"
  ) {
    return " It looks like a description of an MCP server, which is not read as a card in this release.";
  }
  if (Object.hasOwn(head, "inputSchema")) return " It looks like a single tool; put it into `capabilities` of a card.";
  if (Object.hasOwn(head, "name"))
    return " It is no A2A agent card either: that has a name and a list of skills with an id each.";
  return "";
}

function slugOf(name: string): string {
  const plain = name.slice(0, 512).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain
    .replace(/[^a-z0-9._@-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, limits.nameLengthMax)
    .replace(/[-.]+$/, "");
}

/** `region` is a spelling of labels.region; a label that is already there counts, and the field then stays what it was. */
function liftRegion(head: JsonObject): void {
  const region = own(head, "region");
  const labels = withoutNulls(own(head, "labels") ?? {});
  if (Object.hasOwn(head, "labels")) head["labels"] = labels;
  if (!isObject(labels) || typeof region !== "string" || Object.hasOwn(labels, "region")) return;
  labels["region"] = region;
  head["labels"] = labels;
  delete head["region"];
}

/** A copy without the labels that are null; anything but an object is left for the schema to refuse. */
function withoutNulls(labels: unknown): unknown {
  if (!isObject(labels)) return labels;
  const kept: JsonObject = {};
  for (const key of Object.keys(labels)) if (labels[key] !== null) put(kept, key, labels[key]);
  return kept;
}

function checkCapabilities(list: readonly SentCapability[]): CardRefusal | undefined {
  if (list.length > limits.capabilitiesMax) {
    return refusal(
      "capabilities",
      "maxItems",
      `The card has ${list.length} capabilities; at most ${limits.capabilitiesMax} are accepted.`,
    );
  }
  const firstAt = new Map<string, string>();
  for (const { value, at, sentAs, isWord } of list) {
    if (Object.hasOwn(value, "labels")) value["labels"] = withoutNulls(value["labels"]);
    const broken = violation(capabilitySchema, value) ?? schemaSize(value);
    if (broken !== undefined) return refusalOf(isWord ? { ...broken, at: [] } : broken, at, sentAs);
    const name = value["name"] as string;
    const path = pathOf(isWord ? at : [...at, sentAs.get("name") ?? "name"]);
    const first = firstAt.get(name);
    if (first !== undefined)
      return refusal(path, "unique", `${path} is "${name}", which ${first} is too; a card names each capability once.`);
    firstAt.set(name, path);
  }
  return undefined;
}

function schemaSize(capability: JsonObject): Violation | undefined {
  for (const key of ["inputSchema", "outputSchema"]) {
    const { bytes, depth } = measure(own(capability, key) ?? null, limits.schemaDepthMax);
    if (depth > limits.schemaDepthMax)
      return { at: [key], rule: "schemaDepthMax", expected: `is nested deeper than ${limits.schemaDepthMax} levels` };
    if (bytes > limits.schemaBytesMax)
      return {
        at: [key],
        rule: "schemaBytesMax",
        expected: `has ${bytes} bytes; at most ${limits.schemaBytesMax} are accepted`,
      };
  }
  return undefined;
}

/** One sentence for the card, not one per capability (DLV-19). */
function warnOfIdempotence(list: readonly SentCapability[], warnings: string[]): void {
  const silent = list
    .filter(({ value }) => !Object.hasOwn(value, "idempotent"))
    .map(({ value }) => String(value["name"]));
  if (silent.length === 0) return;
  const named = silent.slice(0, 5).join(", ") + (silent.length > 5 ? ` and ${silent.length - 5} more` : "");
  warnings.push(
    `idempotent: not said for ${named}; taken as false, so a call whose outcome is unknown is not tried again.`,
  );
}

function refusalOf(
  broken: Violation,
  at: readonly (string | number)[],
  sentAs: ReadonlyMap<string, string>,
): CardRefusal {
  const [first, ...rest] = broken.at;
  const within = first === undefined ? [] : [typeof first === "string" ? (sentAs.get(first) ?? first) : first, ...rest];
  const path = pathOf([...at, ...within]);
  return refusal(path, broken.rule, `${path} ${broken.expected}.`);
}

const refusal = (path: string, rule: string, message: string): CardRefusal => ({ ok: false, path, rule, message });
const tooDeep = () => refusal("", "nestingMax", `The card is nested deeper than ${limits.nestingMax} levels.`);
const kindOf = (raw: unknown) =>
  raw === null || raw === undefined ? "nothing" : Array.isArray(raw) ? "an array" : `a ${typeof raw}`;
