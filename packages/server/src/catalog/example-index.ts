import { normalise, wordsOf } from "./text.js";

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

/**
 * Which capabilities give an example, word by word. Two examples are as good as equal when they have the same words, whatever
 * their order, numbers, punctuation and courtesies: no finder can tell them apart by meaning.
 */
export class ExampleIndex {
  private readonly names = new Map<string, Set<string>>();
  private readonly keys = new Map<string, readonly string[]>();

  /** Learns the examples of a capability, in place of what was known of it. */
  put(name: string, examples: readonly string[]): void {
    this.remove(name);
    const keys = [...new Set(examples.map(keyOf))];
    this.keys.set(name, keys);
    for (const key of keys) {
      const names = this.names.get(key);
      if (names === undefined) this.names.set(key, new Set([name]));
      else names.add(name);
    }
  }

  remove(name: string): void {
    for (const key of this.keys.get(name) ?? []) {
      const names = this.names.get(key)!;
      names.delete(name);
      if (names.size === 0) this.names.delete(key);
    }
    this.keys.delete(name);
  }

  /** The capabilities that give this example, or one as good as equal. */
  givenBy(example: string): readonly string[] {
    return [...(this.names.get(keyOf(example)) ?? [])];
  }
}

function keyOf(example: string): string {
  const plain = normalise(example);
  const words = wordsOf(plain).filter((word) => !FILLERS.has(word) && !NUMBER.test(word));
  return words.length === 0 ? plain : [...new Set(words)].sort().join(" ");
}
