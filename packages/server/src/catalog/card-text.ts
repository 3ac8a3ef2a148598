import type { Capability } from "@agent-reach/protocol";
import type { CapabilityEntry } from "../registry/view.js";
import type { CardText } from "./card-features.js";

/** Of one capability that many offer, the cards of so many are read, and so many texts. */
const OFFERS_READ_MAX = 100;
const TEXTS_MAX = 64;

/** What one card says of a capability. Examples may be anything; only sentences help to find it. */
export function textOf({ name, description, operation, objectType, tags, examples }: Capability): CardText {
  const sentences = (examples ?? []).filter((example): example is string => typeof example === "string");
  return { name, description, operation, objectType, tags, examples: sentences };
}

/** What all who offer it say of it. Undefined if nobody offers it. */
export function cardTextOf({ name, offers, gone }: CapabilityEntry): CardText | undefined {
  if (offers.length + gone.length === 0) return undefined;
  const texts = new Set<string>();
  const tags = new Set<string>();
  let operation: string | undefined;
  let objectType: string | undefined;
  let isDescribed = false;
  for (const { capability } of [...offers, ...gone].slice(0, OFFERS_READ_MAX)) {
    operation ??= capability.operation;
    objectType ??= capability.objectType;
    if (capability.description !== undefined) texts.add(capability.description);
    isDescribed ||= (capability.description ?? "") !== "";
    for (const tag of capability.tags ?? []) tags.add(tag);
    for (const example of capability.examples ?? []) if (typeof example === "string") texts.add(example);
  }
  const others = [...texts];
  // Where nobody describes it, its tags do, and if there are none, an example.
  const description = isDescribed || tags.size === 0 ? others.shift() : undefined;
  // In one order, whoever comes first: the same cards are not learnt twice.
  const examples = others.sort().slice(0, TEXTS_MAX);
  return { name, description, operation, objectType, tags: [...tags].sort().slice(0, TEXTS_MAX), examples };
}
