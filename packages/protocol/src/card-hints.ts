import { isObject, type JsonObject, own } from "./json.js";
import { respell, spellingsOf } from "./spelling.js";

/** What an agent says of itself at this moment. Shown as its own word, never taken as truth, and no part of the card's content. */
export interface CardHints {
  status?: string;
  /** The owner's version of the agent, not the registry's count. */
  version?: string;
  healthy?: boolean;
  health?: number;
  /** 0..1, or the numbers of a heartbeat. */
  load?: number | { running?: number; queued?: number };
  p50LatencyMs?: number;
  successRate?: number;
  costTier?: "low" | "medium" | "high";
}

const text = (value: unknown) => (typeof value === "string" && value.length <= 128 ? value : undefined);
const number = (value: unknown) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
const share = (value: unknown) =>
  number(value) !== undefined && (value as number) <= 1 ? (value as number) : undefined;

/** How each hint is read. What does not fit is dropped without a word: a hint is never a reason to refuse a card. */
const readers: { [K in keyof CardHints]-?: (value: unknown) => CardHints[K] | undefined } = {
  status: text,
  version: (value) => (typeof value === "number" ? String(value) : text(value)),
  healthy: (value) => (typeof value === "boolean" ? value : undefined),
  health: share,
  load: (value) => (isObject(value) ? counts(value) : number(value)),
  p50LatencyMs: number,
  successRate: share,
  costTier: (value) => (value === "low" || value === "medium" || value === "high" ? value : undefined),
};

const spellings = spellingsOf(Object.keys(readers));
const leaving: ReadonlySet<string> = new Set(["facts", ...Object.keys(readers), ...spellings.keys()]);

/** Moves the hints out of the card, those under `facts` too; one that stands at the top counts before its namesake there. */
export function takeHints(head: JsonObject): CardHints {
  const found = Object.keys(head).filter((key) => leaving.has(key));
  if (found.length === 0) return {};
  const facts = own(head, "facts");
  const { value: top } = respell(head, spellings);
  const said = isObject(facts) ? { ...respell(facts, spellings).value, ...top } : top;
  for (const key of found) delete head[key];
  const hints: Record<string, unknown> = {};
  for (const [key, read] of Object.entries(readers)) {
    const hint = read(own(said, key));
    if (hint !== undefined) hints[key] = hint;
  }
  return hints as CardHints;
}

function counts(load: JsonObject): { running?: number; queued?: number } {
  const running = number(own(load, "running"));
  const queued = number(own(load, "queued"));
  return { ...(running !== undefined && { running }), ...(queued !== undefined && { queued }) };
}
