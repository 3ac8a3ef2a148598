import type { Answer, CardText, Finder, Scored } from "../../packages/server/src/catalog/finder.js";
import { normalise, wordsOf } from "../../packages/server/src/catalog/text.js";

/** A small finder that one can reckon with by hand: the share of words in common, over each text of a card the best. */
export class WordFinder implements Finder {
  readonly asked: string[] = [];
  private readonly cards = new Map<string, Set<string>[]>();

  constructor(private readonly threshold = 0.3) {}

  put({ name, description, examples }: CardText): void {
    this.cards.set(name, [name, description ?? "", ...(examples ?? [])].map(setOf));
  }

  remove(name: string): void {
    this.cards.delete(name);
  }

  calibrate(): void {
    // Its threshold is given.
  }

  ask(text: string, limit = 3): Answer {
    this.asked.push(text);
    const wanted = setOf(text);
    const ranked = [...this.cards]
      .map(([name, texts]) => scored(name, Math.max(...texts.map((words) => common(words, wanted)))))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
    const [first, second] = ranked;
    const confidence = first?.score ?? 0;
    const verdict = confidence < this.threshold ? "no_match" : second?.score === first!.score ? "ambiguous" : "match";
    return { verdict, fit: confidence, confidence, ranked };
  }
}

function scored(name: string, score: number): Scored {
  return { name, score, parts: { lexical: 0, concepts: 0, words: score, embedding: 0, operation: 1 } };
}

function setOf(text: string): Set<string> {
  return new Set(wordsOf(normalise(text)));
}

/** Dice's coefficient. */
function common(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const both = [...one].filter((word) => other.has(word)).length;
  return one.size + other.size === 0 ? 0 : (2 * both) / (one.size + other.size);
}
