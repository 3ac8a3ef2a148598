import type { Decision } from "../../packages/server/src/router/decision.js";

interface Choice {
  readonly chosen: string;
  readonly able: ReadonlySet<string>;
}

/**
 * Where messages of one key went (ROUTE-11). Whose a key is depends on nothing but who is able, and who comes or goes moves
 * his own keys alone. So of two choices for one key, each of which had the other's to choose from, both are the same,
 * whatever happened in between, and whichever run of the node made them.
 */
export class Partitions {
  readonly #choices = new Map<string, Choice[]>();

  /** Answers what is wrong with this choice among those before it. */
  add(key: string, { considered, omitted }: Decision): string | undefined {
    if (omitted > 0) return undefined;
    let chosen: string | undefined;
    const able = new Set<string>();
    for (const { verdict, offer } of considered) {
      const { instanceId } = offer.instance.record;
      if (verdict === "chosen") chosen = instanceId;
      if (verdict === "chosen" || verdict === "lower_score" || verdict === "full") able.add(instanceId);
    }
    if (chosen === undefined) return undefined;
    const earlier = this.#choices.get(key) ?? [];
    this.#choices.set(key, earlier);
    for (const other of earlier)
      if (other.chosen !== chosen && other.able.has(chosen) && able.has(other.chosen))
        return `it went to ${chosen}, and one of the same key had gone to ${other.chosen}, which was able`;
    if (!earlier.some((other) => other.chosen === chosen && isWithin(able, other.able))) earlier.push({ chosen, able });
    return undefined;
  }
}

/** Then a choice among fewer of them says nothing new. */
function isWithin(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  for (const each of some) if (!all.has(each)) return false;
  return true;
}
