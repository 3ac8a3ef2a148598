import type { LintWarning } from "@agent-reach/server/catalog";
import type { Command } from "commander";
import { readTextFile } from "../arguments.js";
import { type CardsRead, parseCards } from "../cards-file.js";
import type { Context } from "../context.js";
import { exitCodes } from "../exit.js";

export function define(command: Command, context: (command: Command) => Context): void {
  command.addHelpText(
    "after",
    `
Examples:
  $ agent-reach cards lint cards.json`,
  );
  const lint = command
    .command("lint")
    .description("Say what a node would refuse of some cards, and what keeps their capabilities from being found.")
    .argument("<file>", "a card, or an array of cards or of capabilities, as JSON; - for standard input")
    .addHelpText(
      "after",
      `
Looks for missing descriptions and examples, examples that two cards share or that find another card, one capability under two
names, and operations that contradict a name. Exit code 1 says that a card would be refused; warnings alone are fine.

Examples:
  $ agent-reach cards lint cards.json
  $ agent-reach agents --json | agent-reach cards lint - --json`,
    );
  lint.action(async (file: string) => {
    const here = context(lint);
    const read = parseCards(await readTextFile(file, here.io), file === "-" ? "standard input" : file);
    const warnings = await warningsOf(read);
    const report = {
      capabilities: read.cards.length,
      errors: read.errors.map(({ field, rule, message }) => ({ path: field, rule, message })),
      warnings,
      remarks: read.remarks,
    };
    const { renderLint } = await import("../render/lint.js");
    here.print(report, () => renderLint(report, here.paint));
    if (report.errors.length > 0) here.exitWith(exitCodes.refused);
  });
}

export interface LintReport {
  capabilities: number;
  /** What a node would refuse. */
  errors: { path: string; rule: string; message: string }[];
  /** What it would take, and people may not find. Paths are from the file's root. */
  warnings: LintWarning[];
  /** What a node would answer as warnings of the cards themselves. */
  remarks: string[];
}

async function warningsOf({ cards, places }: CardsRead): Promise<LintWarning[]> {
  const { lint, openFinder } = await import("@agent-reach/server/catalog");
  const finder = await openFinder();
  for (const card of cards) finder.put(card);
  finder.calibrate();
  return lint(cards, finder).map((warning) => ({
    ...warning,
    path: placeOf(places.get(warning.capability) ?? [], warning.path),
  }));
}

/** Of a capability that stands in several places, the first is named, and no index: the examples are those of all. */
function placeOf([first = "", ...others]: readonly string[], field: string): string {
  const inner = others.length === 0 ? field : field.replace(/\[\d+\]$/, "");
  return first === "" || inner === "" ? `${first}${inner}` : `${first}.${inner}`;
}
