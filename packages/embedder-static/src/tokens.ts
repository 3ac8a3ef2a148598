/**
 * How a text is cut into the table's words. The table was learnt with the same rules (tools/embedder/tokens.py), so a change
 * here needs a new table.
 *
 * Text is NFKC-normalised, split where a small letter meets a capital, and lower-cased. A run of digits is the word `0`. A run
 * of Latin letters is looked up whole, then without what follows an apostrophe; if it is unknown, it is cut greedily into the
 * longest parts: the first is a word of three letters or more, a later one a word of four letters or more or an end of words
 * (written `#end`). Letters that fit nowhere are passed over. Chinese is cut greedily into the longest words, from the left.
 */

const RUN = /[a-z\u00df-\u024f]+(?:'[a-z]+)?|[0-9]+|[\u3400-\u9fff]+/g;
const LONGEST_HAN = 5;
const LONGEST_END = 7;
const SHORTEST_END = 2;
const SHORTEST_BEGINNING = 3;
const SHORTEST_LATER = 4;
/** No word of the table has more letters. A run of any length takes time in proportion to it. */
const LONGEST_LATIN = 24;

/** The numbers of the words in the text, in order, repeated ones repeated. */
export function cut(text: string, numbers: ReadonlyMap<string, number>): number[] {
  const found: number[] = [];
  const plain = text
    .normalize("NFKC")
    .replaceAll("\u2019", "'")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();
  for (const [run] of plain.matchAll(RUN)) {
    if (run >= "\u3400") cutHan(run, numbers, found);
    else cutLatin(run <= "9\uffff" ? "0" : run, numbers, found);
  }
  return found;
}

function cutLatin(run: string, numbers: ReadonlyMap<string, number>, found: number[]): void {
  const apostrophe = run.indexOf("'");
  const bare = apostrophe < 0 ? run : run.slice(0, apostrophe);
  const whole = numbers.get(run) ?? numbers.get(bare);
  if (whole !== undefined) {
    found.push(whole);
    return;
  }
  let at = 0;
  while (at < bare.length) at += takeLatin(bare, at, numbers, found) || 1;
}

/** Takes the longest word or end at a place, if there is one; answers its length, or 0. */
function takeLatin(run: string, at: number, numbers: ReadonlyMap<string, number>, found: number[]): number {
  const least = at === 0 ? SHORTEST_BEGINNING : SHORTEST_LATER;
  for (let size = Math.min(LONGEST_LATIN, run.length - at); size >= SHORTEST_END; size--) {
    const part = run.slice(at, at + size);
    const word = size >= least ? numbers.get(part) : undefined;
    const number = word ?? (at > 0 && size <= LONGEST_END ? numbers.get(`#${part}`) : undefined);
    if (number !== undefined) {
      found.push(number);
      return size;
    }
  }
  return 0;
}

function cutHan(run: string, numbers: ReadonlyMap<string, number>, found: number[]): void {
  let at = 0;
  while (at < run.length) at += takeHan(run, at, numbers, found) || 1;
}

function takeHan(run: string, at: number, numbers: ReadonlyMap<string, number>, found: number[]): number {
  for (let size = Math.min(LONGEST_HAN, run.length - at); size > 0; size--) {
    const number = numbers.get(run.slice(at, at + size));
    if (number !== undefined) {
      found.push(number);
      return size;
    }
  }
  return 0;
}
