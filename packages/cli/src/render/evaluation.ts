import type { Confusion, Evaluation } from "@agent-reach/server/catalog";
import type { Paint } from "./paint.js";
import { renderFields, renderTable, shorten } from "./table.js";

const CONFUSIONS_SHOWN = 10;
const TEXT_LENGTH = 36;

export function renderEvaluation(evaluation: Evaluation, paint: Paint): string {
  const parts = [figures(evaluation, paint)];
  if (evaluation.confusions.length > 0) parts.push(confusions(evaluation.confusions, paint));
  if (evaluation.suggestions.length > 0)
    parts.push(
      `${paint.strong("Suggestions")}\n${evaluation.suggestions.map((text) => `- ${printable(text)}\n`).join("")}`,
    );
  return parts.join("\n");
}

function figures(evaluation: Evaluation, paint: Paint): string {
  const { served, unserved, ambiguousAtThreshold: ambiguous, thresholdAt90, rejectedAt90 } = evaluation;
  const doubt = ambiguous === null || ambiguous === 0 ? "" : `, ${percent(ambiguous)} ambiguous`;
  const at90 = thresholdAt90 === null ? "" : `, from a fit of ${(Math.floor(thresholdAt90 * 1000) / 1000).toFixed(3)}`;
  return renderFields(
    [
      ["queries", `${served} served, ${unserved} unserved`],
      ["top-1", percent(evaluation.top1)],
      ["top-3", percent(evaluation.top3)],
      ["accepted", `${percent(evaluation.acceptedAtThreshold)}${doubt}`],
      ["rejected", percent(evaluation.rejectedAtThreshold)],
      ["rejected at 90 %", `${percent(rejectedAt90)}${at90}`],
      ["p50, p95", `${ms(evaluation.p50Ms)}, ${ms(evaluation.p95Ms)}`],
    ],
    paint,
  );
}

function confusions(all: readonly Confusion[], paint: Paint): string {
  const rows = all
    .slice(0, CONFUSIONS_SHOWN)
    .map(({ expected, got, count, texts }) => [
      expected === null ? paint.dim("nobody") : paint.name(expected),
      got === null ? paint.dim("nobody") : paint.name(got),
      String(count),
      shorten(texts[0] ?? "", TEXT_LENGTH),
    ]);
  const table = renderTable(["EXPECTED", "FOUND", "QUERIES", "LIKE"], rows, paint);
  const more = all.length - rows.length;
  return more > 0 ? `${table}${paint.dim(`and ${more} more kinds; see them with --json`)}\n` : table;
}

/** A control character of somebody's card or query must not reach the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

const percent = (share: number | null): string => (share === null ? "-" : `${(share * 100).toFixed(1)} %`);
const ms = (time: number | null): string =>
  time === null ? "-" : `${time < 10 ? time.toFixed(2) : Math.round(time)} ms`;
