import type { LintReport } from "../commands/cards.js";
import { printable } from "./evaluation.js";
import type { Paint } from "./paint.js";

/** One line for each thing, what would be refused first. */
export function renderLint({ capabilities, errors, warnings, remarks }: LintReport, paint: Paint): string {
  const lines = [
    ...errors.map(({ message }) => `${paint.bad("error:")} ${printable(message)}`),
    ...warnings.map(
      ({ path, message }) => `${paint.doubt("warning:")} ${paint.dim(`${printable(path)}:`)} ${printable(message)}`,
    ),
    ...remarks.map((text) => `${paint.doubt("warning:")} ${printable(text)}`),
    `${count(capabilities, "capability", "capabilities")}, ${count(errors.length, "error", "errors")}, ${count(warnings.length + remarks.length, "warning", "warnings")}`,
  ];
  return `${lines.join("\n")}\n`;
}

const count = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`;
