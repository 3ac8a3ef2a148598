import { stem } from "./text.js";

/** What a part of a longer phrase counts for ("order" in "purchase order"), and a broader concept ("leave" for "sick leave"). */
const NESTED = 0.5;
const BROADER = 0.5;
const RUN = /[\u3400-\u9fff]+|[a-z0-9+ ]+/g;
const CJK = /[\u3400-\u9fff]/;

/** English words are looked for as they stand, then without a plural, then without any ending: "orders", "ordering". */
const FORMS: readonly ((word: string) => string)[] = [(word) => word, singular, (word) => stem(singular(word))];

/** A phrase's part, the concepts of the phrase that ends with it, and the parts that may follow. */
class Branch {
  readonly concepts: number[] = [];
  private readonly next = new Map<string, Branch>();

  add(parts: readonly string[], concept: number): void {
    let branch: Branch = this;
    for (const part of parts) {
      const known = branch.next.get(part) ?? new Branch();
      branch.next.set(part, known);
      branch = known;
    }
    if (!branch.concepts.includes(concept)) branch.concepts.push(concept);
  }

  /** The branches of the phrases, and beginnings of phrases, that stand there, the shortest first. */
  from(parts: readonly string[], at: number): readonly Branch[] {
    let branch = this.next.get(parts[at]!);
    if (branch === undefined) return NONE;
    const branches: Branch[] = [];
    for (let end = at + 1; branch !== undefined; branch = branch.next.get(parts[end++]!)) branches.push(branch);
    return branches;
  }
}

const NONE: readonly Branch[] = [];

/**
 * A lexicon of things that are spoken of in offices, in English and Chinese: which concepts a text names. It carries a request
 * in one language over to a card in the other.
 */
export class Concepts {
  private readonly english = FORMS.map(() => new Branch());
  private readonly chinese = [new Branch()];
  private readonly broader = new Map<number, number[]>();
  private readonly numbers = new Map<string, number>();

  /**
   * `concepts`: lines `id: english words, …| Chinese words, …`; `broader`: lines `id: narrower ids, …`. Lines that begin with #
   * are remarks.
   */
  constructor({ concepts, broader }: { concepts: string; broader: string }) {
    for (const [id, words] of linesOf(concepts)) this.learn(this.numberOf(id), words);
    for (const [id, narrower] of linesOf(broader)) {
      for (const one of narrower.split(",")) {
        const number = this.numberOf(one.trim());
        this.broader.set(number, [...(this.broader.get(number) ?? []), this.numberOf(id)]);
      }
    }
  }

  /** The concepts of a text in normal form, by number, each with how plainly it is named, 0..1. */
  in(plain: string): Map<number, number> {
    const found = new Map<number, number>();
    for (const [run] of clean(plain).matchAll(RUN)) {
      if (CJK.test(run)) this.read(found, this.chinese, [[...run]]);
      else {
        const words = run.split(" ").filter((word) => word !== "");
        const forms = FORMS.map((form) => words.map(form));
        this.read(found, this.english, forms);
      }
    }
    return found;
  }

  /**
   * The longest phrase first; what lies within it, or reaches over its end, counts less. `forms`: the same parts in each form
   * in which they are looked for.
   */
  private read(found: Map<number, number>, lexicons: readonly Branch[], forms: readonly string[][]): void {
    let end = 0;
    const { length: count } = forms[0]!;
    for (let at = 0; at < count; at++) {
      const branches = lexicons.map((lexicon, i) => lexicon.from(forms[i]!, at));
      for (let length = Math.max(...branches.map((each) => each.length)); length > 0; length--) {
        const named = branches.find((each) => (each[length - 1]?.concepts.length ?? 0) > 0)?.[length - 1];
        if (named === undefined) continue;
        const first = at >= end;
        if (first) end = at + length;
        this.note(found, named.concepts, first ? 1 : NESTED);
      }
    }
  }

  private note(found: Map<number, number>, concepts: readonly number[], weight: number): void {
    for (const concept of concepts) {
      atLeast(found, concept, weight);
      for (const broader of this.broader.get(concept) ?? []) atLeast(found, broader, weight * BROADER);
    }
  }

  private learn(concept: number, words: string): void {
    const [english = "", chinese = ""] = words.split("|");
    for (const phrase of phrasesOf(english)) {
      const parts = phrase.split(" ");
      for (const [i, form] of FORMS.entries()) this.english[i]!.add(parts.map(form), concept);
    }
    for (const phrase of phrasesOf(chinese)) this.chinese[0]!.add([...phrase], concept);
  }

  private numberOf(id: string): number {
    let number = this.numbers.get(id);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(id, number);
    }
    return number;
  }
}

function linesOf(text: string): [id: string, rest: string][] {
  return text
    .split("\n")
    .filter((line) => line.includes(":") && !line.startsWith("#"))
    .map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim(), line.slice(colon + 1)];
    });
}

/** Phrases as `clean` leaves them in a text. */
function phrasesOf(words: string): string[] {
  return words
    .toLowerCase()
    .split(",")
    .map((phrase) => clean(phrase.replace(/[\s_\-./]+/g, " ").trim()))
    .filter((phrase) => phrase !== "");
}

function clean(plain: string): string {
  return plain.replace(/['&]/g, "");
}

function singular(word: string): string {
  // Asked first, since nearly all words end here.
  if (word.length < 4 || !word.endsWith("s") || /[^a-z]/.test(word)) return word;
  return word.replace(/ies$/, "y").replace(/([^sui])s$/, "$1");
}

function atLeast(found: Map<number, number>, concept: number, weight: number): void {
  if ((found.get(concept) ?? 0) < weight) found.set(concept, weight);
}
