import { type JsonObject, own, put } from "./json.js";

/** Other spellings of a key, each with the canonical key that it stands for. */
export type Spellings = ReadonlyMap<string, string>;

export function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The snake_case twins of these names, with `aliases` and their snake_case twins beside them. */
export function spellingsOf(names: Iterable<string>, aliases: Readonly<Record<string, string>> = {}): Spellings {
  const spellings = new Map<string, string>();
  for (const name of names) if (snakeOf(name) !== name) spellings.set(snakeOf(name), name);
  for (const [alias, name] of Object.entries(aliases)) {
    spellings.set(alias, name);
    spellings.set(snakeOf(alias), name);
  }
  return spellings;
}

export interface Respelled {
  value: JsonObject;
  /** Canonical key → the key that was sent, for those that were spelled otherwise; errors name what was sent. */
  sentAs: ReadonlyMap<string, string>;
}

/**
 * A copy, one level deep, with canonical keys. Null counts as absent. Where two spellings of one key are sent the canonical one
 * counts (else the first), and the other stays as it is, like any field that nobody knows.
 */
export function respell(raw: JsonObject, spellings: Spellings): Respelled {
  const value: JsonObject = {};
  const sentAs = new Map<string, string>();
  for (const key of Object.keys(raw)) {
    const member = raw[key];
    if (member === null || member === undefined) continue;
    const canonical = spellings.get(key);
    const taken = canonical === undefined || Object.hasOwn(value, canonical) || (own(raw, canonical) ?? null) !== null;
    if (!taken) sentAs.set(canonical, key);
    put(value, taken ? key : canonical, member);
  }
  return { value, sentAs };
}
