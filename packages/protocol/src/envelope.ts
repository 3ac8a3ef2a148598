/**
 * Reads the envelope of `call`, `submit` and `publish` in any accepted spelling (DLV-20).
 *
 * E1  A canonical envelope is handed through as the same object: one pass over its keys and nothing copied, for this stands in
 *     the path of every call.
 * E2  Where two spellings of one field are sent the canonical one counts; null counts as absent, except as `input`.
 * E3  `inputKey` tells where the input stood, because the node forwards the text of that value as it came.
 * E4  Never throws, and never touches a prototype. Types are the schemas' concern, not its own.
 */
import { isObject, type JsonObject, own, put } from "./json.js";
import * as schemas from "./schemas.js";
import { respell, type Spellings, spellingsOf } from "./spelling.js";

export interface EnvelopeReading {
  envelope: Record<string, unknown>;
  /** Whether anything was spelled differently, so that `envelope` is another object than what was read. */
  renamed: boolean;
  /** The keys that lead to the input in what was read, like `["task", "payload"]`. `["input"]` also when there is none. */
  inputKey: readonly string[];
}

const fields = [...Object.keys(schemas.SubmitEnvelope.properties), "topic"];
const atInput: readonly string[] = Object.freeze(["input"]);

/** Every way to spell a field at the top, except those of the flat form that end inside another object. */
function topSpellings(subject: "capability" | "topic"): Spellings {
  return spellingsOf(fields, { subject, payload: "input", seq: "sequence" });
}
const spellings = { capability: topSpellings("capability"), topic: topSpellings("topic") };

const address = spellingsOf(["agentId", "instanceId"]);
const source = spellingsOf(["agentId", "instanceId", "sessionRef"]);

/** Keys of the flat form which end inside `source` or `target`. */
const flatParts = {
  from_agent: ["source", "agentId"],
  from_instance: ["source", "instanceId"],
  to_agent: ["target", "agentId"],
  to_instance: ["target", "instanceId"],
} as const;

const isForeign: ReadonlySet<string> = new Set([...spellings.capability.keys(), ...Object.keys(flatParts), "task"]);

export interface ReadEnvelopeOptions {
  /** What the flat form's `subject` names: a capability, or for `publish` a topic. */
  subject?: "capability" | "topic";
}

export function readEnvelope(raw: Record<string, unknown>, options?: ReadEnvelopeOptions): EnvelopeReading {
  if (isCanonical(raw)) return { envelope: raw, renamed: false, inputKey: atInput };
  return translate(raw, spellings[options?.subject ?? "capability"]);
}

function isCanonical(raw: JsonObject): boolean {
  for (const key in raw) {
    if (isForeign.has(key)) return false;
    const value = raw[key];
    if (value === null && key !== "input") return false;
    if (key === "timestamp" && typeof value === "number") return false;
    if ((key === "target" || key === "source") && isObject(value) && !isCanonicalAddress(value)) return false;
  }
  return true;
}

function isCanonicalAddress(value: JsonObject): boolean {
  for (const key in value) if (source.has(key) || key === "sessionRef" || value[key] === null) return false;
  return true;
}

function translate(raw: JsonObject, top: Spellings): EnvelopeReading {
  // The nested form: what stands in `task` counts as if it stood outside, unless the outside says so itself.
  const nested = own(raw, "task");
  const outer = respellKeepingNull(raw, top);
  const inner = isObject(nested) ? respellKeepingNull(nested, top) : undefined;
  const envelope: JsonObject = {};
  for (const from of inner === undefined ? [outer] : [outer, inner]) {
    for (const key of Object.keys(from.value)) if (!Object.hasOwn(envelope, key)) put(envelope, key, from.value[key]);
  }
  if (inner !== undefined) delete envelope["task"];

  const flatKey = flatIdempotencyKey(envelope, outer, inner);
  readAddresses(envelope);
  if (flatKey !== undefined) envelope["idempotencyKey"] ??= flatKey;
  const at = envelope["timestamp"];
  if (typeof at === "number" && Math.abs(at) <= 8.64e15) envelope["timestamp"] = new Date(at).toISOString();

  return { envelope, renamed: true, inputKey: whereInputStood(outer, inner) };
}

type Respelled = ReturnType<typeof respell>;

/** As `respell`, but a null that was meant as the input stays one. */
function respellKeepingNull(raw: JsonObject, top: Spellings): Respelled {
  const { value, sentAs } = respell(raw, top);
  if (Object.hasOwn(value, "input")) return { value, sentAs };
  const key = ["input", "payload"].find((name) => own(raw, name) === null);
  if (key === undefined) return { value, sentAs };
  value["input"] = null;
  return { value, sentAs: key === "input" ? sentAs : new Map([...sentAs, ["input", key]]) };
}

function whereInputStood(outer: Respelled, inner: Respelled | undefined): readonly string[] {
  if (Object.hasOwn(outer.value, "input")) return [outer.sentAs.get("input") ?? "input"];
  if (inner !== undefined && Object.hasOwn(inner.value, "input")) return ["task", inner.sentAs.get("input") ?? "input"];
  return atInput;
}

/**
 * `trace_id:seq` of the flat form names the message for good, so it is its idempotencyKey where none is given (DLV-7). Only a
 * `seq` that counts as the sequence does so; one that stands beside a `sequence` is a field that nobody knows.
 */
function flatIdempotencyKey(envelope: JsonObject, outer: Respelled, inner: Respelled | undefined): string | undefined {
  const from = inner === undefined || Object.hasOwn(outer.value, "sequence") ? outer : inner;
  if (from.sentAs.get("sequence") !== "seq") return undefined;
  const { traceId, sequence } = envelope;
  return typeof traceId === "string" && typeof sequence === "number" ? `${traceId}:${sequence}` : undefined;
}

/** Brings `source` and `target` into canonical keys, gathers the flat form's parts into them, and lifts `source.session_ref`. */
function readAddresses(envelope: JsonObject): void {
  for (const [key, known] of [
    ["source", source],
    ["target", address],
  ] as const) {
    const given = own(envelope, key);
    if (isObject(given)) envelope[key] = respell(given, known).value;
  }
  for (const [flat, [side, field]] of Object.entries(flatParts)) {
    const value = own(envelope, flat);
    if (value === undefined) continue;
    delete envelope[flat];
    // An empty address means "any".
    if (value === "") continue;
    const whole = own(envelope, side) ?? {};
    if (!isObject(whole)) continue;
    whole[field] ??= value;
    envelope[side] = whole;
  }
  const from = own(envelope, "source");
  if (!isObject(from) || !Object.hasOwn(from, "sessionRef")) return;
  envelope["sessionRef"] ??= from["sessionRef"];
  // Both spellings go, else the one that did not count would count when the envelope is read again.
  delete from["sessionRef"];
  delete from["session_ref"];
}
