import { levelsOf } from "../registry/view.js";
import { normalise } from "./text.js";

/** The capabilities that carry one tag, or one below it. */
export interface Carriers {
  /** The tag as it stands on the cards. */
  tag: string;
  names: { readonly size: number; keys(): Iterable<string>; has(name: string): boolean };
}

/** A capability that carries all that was asked for. */
export interface Carrier {
  name: string;
  /** Levels by which it falls short, over all tags. */
  up: number;
  reasons: string[];
}

/** The levels of a tag in normal form, the broadest first: script, case, hyphens and underscores make no difference. */
export function plainLevelsOf(tag: string): string[] {
  return levelsOf(tag).map(normalise);
}

/**
 * Who carries all of these tags, each itself or else a parent of it: those who fall short by the fewest levels (CAT-2), counted
 * of the tag that is missed by most, then over all. Whoever lacks even the broadest level of one is none of them. `lookup` takes
 * a tag in normal form.
 */
export function carriersOf(
  tags: readonly string[],
  lookup: (plain: string) => Carriers[],
  among?: ReadonlySet<string>,
): Carrier[] {
  const ladders = tags.map((tag) => ladderOf(tag, lookup));
  const top = Math.max(0, ...ladders.map((ladder) => ladder.steps.length - 1));
  for (let up = 0; up <= top; up++) {
    const found = carryingAll(ladders, up, among);
    const fewest = Math.min(...found.map((carrier) => carrier.up));
    if (found.length > 0) return found.filter((carrier) => carrier.up === fewest);
  }
  return [];
}

/** One tag with who carries it, who carries its parent, and so on. */
interface Ladder {
  asked: string;
  steps: Carriers[][];
}

function ladderOf(tag: string, lookup: (plain: string) => Carriers[]): Ladder {
  const levels = plainLevelsOf(tag);
  return { asked: tag, steps: levels.map((_, up) => lookup(levels.slice(0, levels.length - up).join("/"))) };
}

function carryingAll(ladders: readonly Ladder[], up: number, among: ReadonlySet<string> | undefined): Carrier[] {
  const rungs = ladders.map(({ steps }) => steps[Math.min(up, steps.length - 1)] ?? []);
  const [fewest] = rungs.toSorted((a, b) => countOf(a) - countOf(b));
  const names = new Set((fewest ?? []).flatMap((carriers) => [...carriers.names.keys()]));
  return [...names].flatMap((name) => {
    if (among?.has(name) === false || !rungs.every((rung) => rung.some((carriers) => carriers.names.has(name))))
      return [];
    const found = ladders.map((ladder) => nearestRung(ladder, name));
    return {
      name,
      up: found.reduce((sum, rung) => sum + rung.up, 0),
      reasons: found.map((rung) => rung.reason),
    };
  });
}

/** The nearest level at which a capability carries a tag, of which it carries some level. */
function nearestRung({ asked, steps }: Ladder, name: string): { up: number; reason: string } {
  const up = steps.findIndex((step) => step.some((carriers) => carriers.names.has(name)));
  const { tag } = steps[up]!.find((carriers) => carriers.names.has(name))!;
  return { up, reason: up === 0 ? `tag ${tag}` : `tag ${tag}, ${up} above ${asked}` };
}

function countOf(rung: readonly Carriers[]): number {
  return rung.reduce((sum, { names }) => sum + names.size, 0);
}
