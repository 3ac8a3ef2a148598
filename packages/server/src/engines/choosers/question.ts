import { CHOICES_MAX, type Choice } from "../../ports/chooser.js";

/** In UTF-16 units. All of a question is some 7,000 at most, so that its cost and its time are bounded. */
const REQUEST_CHARS_MAX = 1_000;
const NAME_CHARS_MAX = 128;
const DESCRIPTION_CHARS_MAX = 500;
const EXAMPLE_CHARS_MAX = 200;
const EXAMPLES_MAX = 3;

/** The answer that none of them fits. */
export const NONE = "none";

/** What a model is asked. */
export interface Question {
  /** What may be answered, in the order of the choices. A choice's own words are never an id. */
  readonly ids: readonly string[];
  /** One JSON object with the request and the choices. */
  readonly block: string;
  /** The request as it stands in there. */
  readonly request: string;
}

/** Undefined if there is nothing to ask: no choices, or no word in the request. */
export function questionOf(request: string, choices: readonly Choice[]): Question | undefined {
  const said = plainText(request, REQUEST_CHARS_MAX);
  const offered = choices.slice(0, CHOICES_MAX);
  if (said === "" || offered.length === 0) return undefined;
  const ids = offered.map((_, i) => `c${i + 1}`);
  const listed = offered.map(({ name, description, examples = [] }, i) => ({
    id: ids[i]!,
    name: plainText(name, NAME_CHARS_MAX),
    description: plainText(description ?? "", DESCRIPTION_CHARS_MAX),
    examples: examples.slice(0, EXAMPLES_MAX).map((example) => plainText(example, EXAMPLE_CHARS_MAX)),
  }));
  return { ids, block: quoted({ choices: listed, request: said }), request: said };
}

/**
 * The beginning of a text as people see it. What nobody sees can carry words past whoever reads a card: control characters and
 * line breaks, marks of direction, letters of no width, tags, private characters, variation selectors, halves of characters.
 */
export function plainText(text: string, charsMax: number): string {
  const plain = text
    // Most of what follows is short; of what is not, the beginning alone is worth the work.
    .slice(0, 2 * charsMax)
    .replace(/[\p{Cf}\p{Cs}\p{Co}\p{Variation_Selector}]+/gu, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  if (plain.length <= charsMax) return plain;
  return plain
    .slice(0, charsMax)
    .replace(/\p{Cs}$/u, "")
    .trim();
}

/**
 * JSON whose strings hold none of the brackets with which models mark roles (`<|im_start|>`, `[INST]`): some servers would read
 * them as marks wherever they stand. To a reader of JSON the strings are the same.
 */
function quoted(value: unknown): string {
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, (literal) =>
    literal.replace(/[<>[\]]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
