/**
 * JSON for people, made from the text itself: it is laid out anew and never turned into numbers, so that 64-bit
 * identifiers and 1.0 look as they were sent. The text must be JSON.
 */
export function layOutJson(text: string): string {
  let out = "";
  let depth = 0;
  const tokens = tokensOf(text);
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    const next = tokens[at + 1];
    if ((token === "{" && next === "}") || (token === "[" && next === "]")) {
      out += token + next;
      at++;
    } else if (token === "{" || token === "[") {
      out += token + newLine(++depth);
    } else if (token === "}" || token === "]") {
      out += newLine(--depth) + token;
    } else if (token === ",") {
      out += token + newLine(depth);
    } else {
      out += token === ":" ? ": " : token;
    }
  }
  return out;
}

/** The text of one member of the object that `text` is, to the digit; of several, the last one, as JSON.parse does. */
export function memberText(text: string, key: string): string | undefined {
  const tokens = tokensOf(text);
  if (tokens[0] !== "{") return undefined;
  let found: string | undefined;
  let at = 1;
  while (at < tokens.length && tokens[at] !== "}") {
    const name = JSON.parse(tokens[at]!) as string;
    const start = at + 2;
    at = endOfValue(tokens, start);
    if (name === key) found = tokens.slice(start, at).join("");
    if (tokens[at] === ",") at++;
  }
  return found;
}

const newLine = (depth: number): string => `\n${"  ".repeat(depth)}`;

/** Strings, punctuation, and whatever else stands between blanks: numbers and words. */
function tokensOf(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
}

function endOfValue(tokens: readonly string[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    if (depth === 0) return at + 1;
  }
  return tokens.length;
}
