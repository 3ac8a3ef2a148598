import type { LintWarning } from "./lint.js";

/** Of what others wrote, so much is repeated in a sentence of ours. */
const QUOTED_MAX = 100;
/** So many of a kind are named; who has more knows by then what to do. */
const NAMED_MAX = 5;
const OTHERS_MAX = 10;

/** What somebody wrote, as it stands in a sentence. */
export function quoted(text: string): string {
  return text.length > QUOTED_MAX ? `"${text.slice(0, QUOTED_MAX)}…"` : `"${text}"`;
}

/** One warning as it stands in an answer: the field, and what to do about it. */
export function sentenceOf({ path, message }: LintWarning): string {
  return `${path.replace(/\[\d+\]$/, "") || "name"}: ${message}`;
}

/**
 * The warnings about one card as sentences, at most one for each thing that is missing, however many capabilities lack it: what
 * stands in a log at every start has to be short.
 */
export function sentencesOf(warnings: readonly LintWarning[]): string[] {
  const lacking = (rule: LintWarning["rule"]) =>
    warnings.filter((warning) => warning.rule === rule).map(({ capability }) => capability);
  const withoutExamples = lacking("examplesMissing");
  const withoutDescription = lacking("descriptionMissing").filter((name) => !withoutExamples.includes(name));
  const sentences: string[] = [];
  if (withoutExamples.length > 0)
    sentences.push(
      `examples: none for ${some(withoutExamples)}. To be called by name none are needed; to be found in plain words, a description and about five sentences as people say them help most.`,
    );
  if (withoutDescription.length > 0)
    sentences.push(
      `description: none for ${some(withoutDescription)}, found by name and examples alone; say in a sentence what it does.`,
    );
  const others = warnings.filter(({ rule }) => rule !== "examplesMissing" && rule !== "descriptionMissing");
  sentences.push(...others.slice(0, OTHERS_MAX).map(sentenceOf));
  if (others.length > OTHERS_MAX)
    sentences.push(
      `capabilities: ${others.length - OTHERS_MAX} more warnings; \`agent-reach cards lint\` says them all.`,
    );
  return sentences;
}

function some(names: readonly string[]): string {
  const named = names.slice(0, NAMED_MAX).join(", ");
  return names.length > NAMED_MAX ? `${named} and ${names.length - NAMED_MAX} more` : named;
}
