import type { Card } from "@agent-reach/protocol";
import { textOf } from "./card-text.js";
import { doubtsOfItself, type LintWarning, sharedExamples } from "./lint.js";
import { sentencesOf } from "./lint-words.js";
import type { Linter } from "./linter.js";

/** So many capabilities of a card are read, and so many of its examples compared, while somebody waits for the answer. */
const READ_MAX = 64;
const COMPARED_MAX = 32;

/**
 * What a registration is told about its card (REG-12): at once what the card itself shows and which examples others give; and of
 * a card that was there before, also what the linter has found out since.
 */
export class CardWarnings {
  private readonly ofThemselves = new WeakMap<Card, readonly LintWarning[]>();

  /** Without a linter nothing is known of the other cards. */
  constructor(private readonly linter: Linter | undefined) {}

  of(card: Card, isKnown: boolean): string[] {
    return sentencesOf([...this.ofItself(card), ...(isKnown ? this.found(card) : this.shared(card))]);
  }

  private ofItself(card: Card): readonly LintWarning[] {
    let warnings = this.ofThemselves.get(card);
    if (warnings === undefined) {
      warnings = (card.capabilities ?? []).slice(0, READ_MAX).flatMap((each) => doubtsOfItself(textOf(each)));
      this.ofThemselves.set(card, warnings);
    }
    return warnings;
  }

  private found({ capabilities = [] }: Card): LintWarning[] {
    return capabilities.flatMap(({ name }) => this.linter?.of(name) ?? []);
  }

  private shared({ capabilities = [] }: Card): LintWarning[] {
    if (this.linter === undefined) return [];
    const warnings: LintWarning[] = [];
    let left = COMPARED_MAX;
    for (const capability of capabilities) {
      const text = textOf(capability);
      const examples = (text.examples ?? []).slice(0, left);
      warnings.push(...sharedExamples({ ...text, examples }, this.linter.examples));
      left -= examples.length;
      if (left === 0) break;
    }
    return warnings;
  }
}
