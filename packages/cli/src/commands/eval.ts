import { setImmediate } from "node:timers/promises";
import type { Discovery } from "@agent-reach/protocol";
import type { Operator } from "@agent-reach/sdk/operator";
import type { CardText, Evaluation, LabelledQuery, Reply } from "@agent-reach/server/catalog";
import type { Command } from "commander";
import { readTextFile } from "../arguments.js";
import { merged, parseFlawlessCards, textOf } from "../cards-file.js";
import type { Context } from "../context.js";
import { parseQueries } from "../queries-file.js";

/** A node answers instances; of so many, three capabilities are likely to be seen even if one has a crowd of them. */
const TOP_K = 30;
/** So many agents that offer a capability are asked for its card. */
const CARDS_MAX = 20;
/** What says where a request is refused. */
const THRESHOLD = { setting: "catalog.acceptAt" };
/** Ctrl-C is heard, and the spinner turns, between so many answers. */
const STRETCH = 20;

export function define(command: Command, context: (command: Command) => Context): void {
  command
    .argument("<queries>", "a file of JSON lines, or - for standard input")
    .option("--cards <file>", "cards to ask instead of a node: a JSON array of cards, or of capabilities")
    .addHelpText(
      "after",
      `
Each line is {"text": "where is my order", "expect": "query_order"}; "expect": null says that nobody should serve it.

Shares are of the served (top-1, top-3, accepted) or of the unserved (rejected). "at 90 %" is the share of the unserved that is
under the fit which 90 % of the served reach: how well a threshold could do.

Examples:
  $ agent-reach eval queries.jsonl
  $ agent-reach eval queries.jsonl --cards cards.json
  $ agent-reach agents --json > cards.json && agent-reach eval queries.jsonl --cards cards.json --json`,
    )
    .action(async (file: string, { cards }: { cards?: string }) => {
      const here = context(command);
      const queries = parseQueries(await readTextFile(file, here.io), file === "-" ? "standard input" : file);
      const result =
        cards === undefined
          ? await overNode(here, queries)
          : await overCards(here, queries, parseFlawlessCards(await readTextFile(cards, here.io), cards));
      const { renderEvaluation } = await import("../render/evaluation.js");
      here.print(result, () => renderEvaluation(result, here.paint));
    });
}

async function overNode(here: Context, queries: readonly LabelledQuery[]): Promise<Evaluation> {
  const operator = await here.operator();
  const ask = async (text: string) => replyOf(await operator.discover({ intent: text, topK: TOP_K }));
  return run(here, queries, ask, (names) => cardsFrom(operator, names), THRESHOLD);
}

async function overCards(
  here: Context,
  queries: readonly LabelledQuery[],
  cards: readonly CardText[],
): Promise<Evaluation> {
  const { openFinder } = await import("@agent-reach/server/catalog");
  const finder = await openFinder();
  for (const card of cards) finder.put(card);
  finder.calibrate();
  return run(
    here,
    queries,
    (text) => finder.ask(text, 3),
    // All of them: that nobody asks for a capability does not excuse it from having examples.
    () => cards,
    THRESHOLD,
  );
}

async function run(
  here: Context,
  queries: readonly LabelledQuery[],
  ask: (text: string) => Reply | Promise<Reply>,
  cardsOf: (names: readonly string[]) => readonly CardText[] | Promise<readonly CardText[]>,
  more: { setting: string },
): Promise<Evaluation> {
  const { evaluate } = await import("@agent-reach/server/catalog");
  return here.waiting(`asking ${queries.length} queries`, (say) =>
    evaluate(queries, ask, {
      now: () => performance.now(),
      cardsOf,
      ...more,
      progress: async (done, of) => {
        if (done % STRETCH !== 0) return;
        say(`asking, ${done} of ${of}`);
        await setImmediate();
        here.io.signal.throwIfAborted();
      },
    }),
  );
}

/** Those who could serve it and those who came near, as one ranking of capabilities. What is found by its very words fits in full. */
function replyOf({ verdict, candidates, misses, fit }: Discovery): Reply {
  const all = [...candidates, ...misses].sort((a, b) => b.match - a.match);
  const ranked = [...new Set(all.map(({ capability }) => capability))].map((name) => ({ name }));
  return { verdict, fit: fit ?? (verdict === "no_match" ? 0 : 1), ranked };
}

async function cardsFrom(operator: Operator, names: readonly string[]): Promise<CardText[]> {
  const cards: CardText[] = [];
  for (const name of names) {
    const { agents } = await operator.agents({ capability: name, limit: CARDS_MAX });
    const found = agents.flatMap(({ card }) => (card.capabilities ?? []).filter((each) => each.name === name));
    if (found.length > 0) cards.push(found.map(textOf).reduce(merged));
  }
  return cards;
}
