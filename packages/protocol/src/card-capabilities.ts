import type { CardRefusal } from "./card.js";
import { isObject, type JsonObject, own, pathOf, put } from "./json.js";
import * as schemas from "./schemas.js";
import { type Respelled, respell, spellingsOf } from "./spelling.js";

/** A capability in canonical keys, with the place in the card where it was sent. */
export interface SentCapability extends Respelled {
  at: (string | number)[];
  /** It was sent as a word, so that `at` is the place of whatever is wrong with it. */
  isWord?: boolean;
}

const spellings = spellingsOf(Object.keys(schemas.Capability.properties), { id: "name", semantic: "description" });
const skillSpellings = spellingsOf([...Object.keys(schemas.Capability.properties), "inputModes", "outputModes"]);

/**
 * The capabilities of a card, whether they stand under `capabilities`, under `skills` as words, or under `skills` as an A2A
 * agent card has them. Takes `skills` out of `head`, and keeps the feature flags that A2A calls capabilities as `a2aCapabilities`.
 */
export function capabilitiesOf(head: JsonObject, warnings: string[]): SentCapability[] | CardRefusal {
  const skills = own(head, "skills");
  if (skills !== undefined && !Array.isArray(skills))
    return refusal(["skills"], "type", "must be an array of names, or of A2A skills");
  let sent = own(head, "capabilities");
  if (isObject(sent) && skills !== undefined) {
    if (!Object.hasOwn(head, "a2aCapabilities")) head["a2aCapabilities"] = sent;
    sent = undefined;
  }
  if (sent !== undefined && !Array.isArray(sent))
    return refusal(["capabilities"], "type", "must be an array of objects with a name each");

  const list: SentCapability[] = [];
  for (const [index, raw] of ((sent ?? []) as unknown[]).entries()) {
    const at = ["capabilities", index];
    if (!isObject(raw)) {
      return refusal(
        at,
        "type",
        typeof raw === "string"
          ? 'must be an object with a name; a list of mere words is sent as "skills"'
          : "must be an object with a name",
      );
    }
    const entry = { ...respell(raw, spellings), at };
    const broken = readParams(entry);
    if (broken !== undefined) return broken;
    list.push(entry);
  }
  const described = new Set(list.map(({ value }) => own(value, "name")));
  let fromAgentCard = false;
  for (const [index, raw] of ((skills ?? []) as unknown[]).entries()) {
    const at = ["skills", index];
    const entry = readSkill(raw, at);
    if (entry === undefined) return refusal(at, "type", "must be a name, or an A2A skill with an id");
    fromAgentCard ||= isObject(raw);
    // A skill that a capability describes already says nothing new; the same skill twice is still a mistake.
    if (!described.has(entry.value["name"])) list.push(entry);
  }
  delete head["skills"];
  if (fromAgentCard && (Object.hasOwn(head, "url") || Object.hasOwn(head, "supportedInterfaces"))) {
    warnings.push(
      "url: kept as information; this release does not speak A2A to it, the agent is reached by its transport.",
    );
  }
  return list;
}

/** A word is a capability of that name and tag. An A2A skill has its id for a name, and its name for people as `title`. */
function readSkill(raw: unknown, at: (string | number)[]): SentCapability | undefined {
  if (typeof raw === "string") return { value: { name: raw, tags: [raw] }, sentAs: new Map(), at, isWord: true };
  if (!isObject(raw)) return undefined;
  const { value, sentAs } = respell(raw, skillSpellings);
  const id = own(value, "id");
  if (id === undefined) {
    const named = own(value, "name") === undefined;
    return { value, sentAs: named ? new Map([...sentAs, ["name", "id"]]) : sentAs, at };
  }
  const title = own(value, "name");
  delete value["id"];
  value["name"] = id;
  if (title !== undefined && !Object.hasOwn(value, "title")) value["title"] = title;
  if (own(value, "description") === undefined && typeof title === "string") value["description"] = title;
  return { value, sentAs: new Map([...sentAs, ["name", "id"]]), at };
}

/** `params` of the manifest form become an inputSchema. With an inputSchema beside them they stay what they are. */
function readParams({ value, at }: SentCapability): CardRefusal | undefined {
  const params = own(value, "params");
  if (params === undefined || Object.hasOwn(value, "inputSchema")) return undefined;
  if (!Array.isArray(params))
    return refusal([...at, "params"], "type", "must be an array of {name, type, required, …}");
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [index, raw] of params.entries()) {
    const here = [...at, "params", index];
    if (!isObject(raw)) return refusal(here, "type", "must be an object with a name and a type");
    const { name, schema, isRequired } = readParam(raw);
    if (name === undefined) return refusal([...here, "name"], "required", "is missing");
    if (typeof name !== "string" || name === "")
      return refusal([...here, "name"], "type", "must be a string that is not empty");
    if (Object.hasOwn(properties, name))
      return refusal([...here, "name"], "unique", `is "${name}", which an earlier param is too`);
    put(properties, name, schema);
    if (isRequired) required.push(name);
  }
  delete value["params"];
  value["inputSchema"] = { type: "object", properties, ...(required.length > 0 && { required }) };
  return undefined;
}

/** `required` as a boolean is the manifest's; as an array it is JSON Schema's, and goes into the schema like any other keyword. */
function readParam(raw: JsonObject): { name: unknown; schema: JsonObject; isRequired: boolean } {
  const schema: JsonObject = {};
  for (const key of Object.keys(raw)) {
    const member = raw[key];
    if (key === "name" || (key === "required" && typeof member === "boolean")) continue;
    // A default or a constant may well be null; elsewhere null means that nothing was said.
    if (member === null && key !== "default" && key !== "const") continue;
    if (key === "semantic" && !Object.hasOwn(raw, "description")) schema["description"] = member;
    else put(schema, key, member);
  }
  return { name: own(raw, "name") ?? undefined, schema, isRequired: own(raw, "required") === true };
}

function refusal(at: (string | number)[], rule: string, expected: string): CardRefusal {
  const path = pathOf(at);
  return { ok: false, path, rule, message: `${path} ${expected}.` };
}
