import { ReachError } from "@agent-reach/protocol";
import { normalise } from "./text.js";

/** A phrase, the capability or tag that it stands for, and where that is written. */
export interface Synonym {
  phrase: string;
  name: string;
  origin: string;
}

/** A space between Chinese and other characters is a matter of taste: "SQL 查询" is "SQL查询". */
const SPACE_AT_CHINESE = /(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])/g;
/** As they stand in a text in normal form, in which full stops are blanks. */
const END_MARKS = new Set(" 。!?,;:~、");

/**
 * Other words for a capability or a tag. A phrase stands for the capability of that name, or else for the tag; it is told in
 * any case, spacing, width and Chinese script.
 */
export class Synonyms {
  private readonly byPhrase = new Map<string, Synonym>();

  constructor(synonyms: readonly Synonym[] = []) {
    for (const synonym of synonyms) {
      const key = keyOf(synonym.phrase);
      const other = this.byPhrase.get(key);
      if (other !== undefined && other.name !== synonym.name) throw twice(other, synonym);
      this.byPhrase.set(key, synonym);
    }
  }

  /** Phrases that can be told apart. */
  get size(): number {
    return this.byPhrase.size;
  }

  /** The name that a phrase stands for. */
  find(phrase: string): string | undefined {
    return this.byPhrase.get(keyOf(phrase))?.name;
  }
}

function keyOf(phrase: string): string {
  const plain = normalise(phrase);
  let end = plain.length;
  while (end > 0 && END_MARKS.has(plain[end - 1]!)) end--;
  // Of a phrase that has nothing but such marks, they are what is said.
  return plain.slice(0, end).replace(SPACE_AT_CHINESE, "") || plain;
}

function twice(one: Synonym, other: Synonym): ReachError {
  const spelt = one.phrase === other.phrase ? "" : ` (as "${other.phrase}")`;
  return new ReachError(
    "INVALID_REQUEST",
    `catalog.synonymsFile has "${one.phrase}" stand for "${one.name}" at ${one.origin}, and for "${other.name}" at ${other.origin}${spelt}; a phrase can mean one thing only, so take it out of one of the two.`,
    { path: "catalog.synonymsFile" },
  );
}
