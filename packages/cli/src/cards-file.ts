import type { Capability } from "@agent-reach/protocol";
import { readCard } from "@agent-reach/protocol/read";
import type { CardText } from "@agent-reach/server/catalog";
import { usageError } from "./arguments.js";
import { type FileProblem, refuseFile } from "./problems.js";

/** The capabilities of a file, as far as they can be read, and what is wrong with it. */
export interface CardsRead {
  /** One a name: several agents may offer a capability, each with examples of its own. */
  cards: CardText[];
  /** Where in the file each capability stands, by name; all places if there are several. */
  places: ReadonlyMap<string, readonly string[]>;
  errors: FileProblem[];
  /** What a node would answer as warnings when it gets these cards. */
  remarks: string[];
}

/**
 * Reads cards in any accepted spelling: one card, an array of cards or of bare capabilities, or what `agents --json` prints.
 * Throws only if the text is no JSON; what breaks the card's schema is in `errors`, the first of each capability.
 */
export function parseCards(text: string, file: string): CardsRead {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw usageError(`${file} is not JSON (${(error as Error).message}); write a card, or an array of cards`);
  }
  const reader = new Reader(file);
  for (const [element, at] of elementsOf(value)) {
    if (isObject(element) && !isCard(element)) reader.readCapability(element, at);
    else reader.readWhole(element, at);
  }
  return reader.result();
}

/** The same for whoever needs them all: throws INVALID_REQUEST with every error. */
export function parseFlawlessCards(text: string, file: string): CardText[] {
  const { cards, errors } = parseCards(text, file);
  if (errors.length > 0) throw refuseFile(errors);
  if (cards.length === 0) throw usageError(`${file} has no capability; write a card, or an array of cards`);
  return cards;
}

function elementsOf(value: unknown): [element: unknown, at: string][] {
  if (Array.isArray(value)) return value.map((element, i) => [element, `[${i}]`]);
  if (isObject(value) && Array.isArray(value["agents"]))
    return value["agents"].map((agent: unknown, i) =>
      isObject(agent) && isObject(agent["card"]) ? [agent["card"], `agents[${i}].card`] : [agent, `agents[${i}]`],
    );
  return [[value, ""]];
}

class Reader {
  private readonly byName = new Map<string, CardText>();
  private readonly places = new Map<string, string[]>();
  private readonly errors: FileProblem[] = [];
  private readonly remarks: string[] = [];

  constructor(private readonly file: string) {}

  result(): CardsRead {
    const { errors, places, remarks } = this;
    return { cards: [...this.byName.values()], places, errors, remarks };
  }

  readWhole(raw: unknown, at: string): void {
    const reading = readCard(raw, { transport: "ws" });
    if (reading.ok) {
      const where = at === "" ? "" : `${at}: `;
      this.remarks.push(...reading.warnings.map((warning) => `${where}${warning}`));
      for (const [i, capability] of reading.card.capabilities.entries())
        this.learn(capability, joined(at, `capabilities[${i}]`));
      return;
    }
    // A card's reader stops at the first mistake; each capability is tried alone, so that all of them come to light.
    const list = isObject(raw) && Array.isArray(raw["capabilities"]) ? raw["capabilities"] : [];
    const known = this.errors.length;
    for (const [i, capability] of list.entries()) this.readCapability(capability, joined(at, `capabilities[${i}]`));
    const field = joined(at, reading.path);
    if (!this.errors.slice(known).some((error) => error.field === field)) this.refuse(reading, "", at);
  }

  readCapability(raw: unknown, at: string): void {
    const reading = readCard({ agentId: "file", capabilities: [raw] }, { transport: "ws" });
    if (reading.ok) this.learn(reading.card.capabilities[0]!, at);
    else this.refuse(reading, "capabilities[0]", at);
  }

  /** An error that was found under `within` belongs `at` another place of the file. */
  private refuse(found: { path: string; rule: string; message: string }, within: string, at: string): void {
    const inner = found.path.startsWith(within) ? found.path.slice(within.length).replace(/^\./, "") : found.path;
    const field = joined(at, inner);
    const rest =
      found.message.startsWith(found.path) && found.path !== "" ? found.message.slice(found.path.length) : "";
    const sentence = rest === "" ? (at === "" ? found.message : `${at}: ${found.message}`) : `${field}${rest}`;
    this.errors.push({ file: this.file, field, rule: found.rule, message: sentence.replace(/^ /, "The card ") });
  }

  private learn(capability: Capability, at: string): void {
    const text = textOf(capability);
    const known = this.byName.get(text.name);
    this.byName.set(text.name, known === undefined ? text : merged(known, text));
    this.places.set(text.name, [...(this.places.get(text.name) ?? []), at]);
  }
}

/** What the catalog reads of a capability. Examples may be anything; only sentences help to find it. */
export function textOf({ name, description, operation, objectType, tags, examples }: Capability): CardText {
  const sentences = (examples ?? []).filter((example): example is string => typeof example === "string");
  return { name, description, operation, objectType, tags, examples: sentences };
}

/** Several agents describe one capability: the first word of each counts, and all examples. */
export function merged(one: CardText, other: CardText): CardText {
  const union = (a: readonly string[] = [], b: readonly string[] = []): string[] => [...new Set([...a, ...b])];
  return {
    name: one.name,
    description: one.description || other.description,
    operation: one.operation || other.operation,
    objectType: one.objectType || other.objectType,
    tags: union(one.tags, other.tags),
    examples: union(one.examples, other.examples),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isCard = (value: Record<string, unknown>): boolean =>
  ["agentId", "agent_id", "capabilities", "skills"].some((key) => Object.hasOwn(value, key));

function joined(at: string, inner: string): string {
  return at === "" || inner === "" || inner.startsWith("[") ? `${at}${inner}` : `${at}.${inner}`;
}
