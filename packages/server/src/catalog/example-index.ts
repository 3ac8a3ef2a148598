import { normalise, stem, wordsOf } from "./text.js";

/**
 * Words that change nothing about what is asked for. Negations and prepositions are not among them: "not by post" is another
 * request than "by post".
 */
const FILLERS = new Set(
  wordsOf(
    normalise(
      "please pls kindly can could would you i me we want need like the a an my our 请 请问 帮 帮我 帮忙 麻烦 我 我们 你 您 想 要 想要 需要 能 能不能 可以 一下 吗 呢 吧 了 的",
    ),
  ),
);
/** Numbers, and codes with numbers in them. */
const NUMBER = /\p{N}/u;

/** Words of plain ASCII. A cut by rule is ten times as fast as one by dictionary, and a registration waits for it. */
const ASCII_ONLY = /^[\x20-\x7e]*$/;
const ASCII_WORD = /[a-z0-9]+(?:'[a-z0-9]+)*/g;
/** So much of an example is read: one that is longer is no sentence, and must not cost as much as a hundred of them. */
const READ_MAX = 300;
/** So many examples of a capability are known. */
const EXAMPLES_MAX = 64;

/**
 * Which capabilities give an example, word by word. Two examples are as good as equal when they have the same words, whatever
 * their order, numbers, punctuation and courtesies: no finder can tell them apart by meaning.
 */
export class ExampleIndex {
  /** By example. Nearly always there is but one, and a set for each of half a million examples would fill the memory. */
  private readonly names = new Map<string, string | Set<string>>();
  private readonly keys = new Map<string, readonly string[]>();

  /** Learns the examples of a capability, in place of what was known of it. */
  put(name: string, examples: readonly string[]): void {
    this.remove(name);
    if (examples.length === 0) return;
    const keys = [...new Set(examples.slice(0, EXAMPLES_MAX).map(keyOf))];
    this.keys.set(name, keys);
    for (const key of keys) {
      const known = this.names.get(key);
      if (known === undefined) this.names.set(key, name);
      else if (typeof known === "string") this.names.set(key, new Set([known, name]));
      else known.add(name);
    }
  }

  remove(name: string): void {
    for (const key of this.keys.get(name) ?? []) {
      const known = this.names.get(key)!;
      if (typeof known === "string") this.names.delete(key);
      else if (known.delete(name) && known.size === 1) for (const last of known) this.names.set(key, last);
    }
    this.keys.delete(name);
  }

  /** The capabilities that give this example, or one as good as equal. */
  givenBy(example: string): readonly string[] {
    const known = this.names.get(keyOf(example));
    return known === undefined ? [] : typeof known === "string" ? [known] : [...known];
  }
}

function keyOf(example: string): string {
  const plain = normalise(example.slice(0, READ_MAX));
  const cut = ASCII_ONLY.test(plain) ? (plain.match(ASCII_WORD) ?? []).map(stem) : wordsOf(plain);
  const words = cut.filter((word) => !FILLERS.has(word) && !NUMBER.test(word));
  return words.length === 0 ? plain : [...new Set(words)].sort().join(" ");
}
