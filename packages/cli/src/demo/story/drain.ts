import { setTimeout as pause } from "node:timers/promises";
import type { CallOutcome, TaskOutcome } from "@agent-reach/sdk";
import { orderCount, orderIdOf } from "../orders.js";
import { enter, type Scene } from "../scene.js";
import { within } from "../stage.js";

const gapMs = 8;
/** Messages before the replacement starts, and after the old one left. */
const before = 60;
const after = 60;
/** Customers who wait for an answer at the same time: on a slow machine they come more slowly. */
const inFlightMax = 16;

/** An agent is replaced under load. */
export async function showDrain(scene: Scene): Promise<void> {
  const { teller, tally, cast, stage, client } = scene;
  teller.step(
    "An agent is replaced under load",
    "Customers keep asking, by calls and by tasks. A second pre-sale agent starts, and the first is told to end (SIGTERM): it " +
      "takes nothing new, finishes what it has, hands over the results, says goodbye.",
  );
  const first = cast.get("pre-sale-agent")!;
  const firstId = (await client.agent("pre-sale-agent")).instances[0]?.instanceId;
  const answers: Promise<CallOutcome | TaskOutcome>[] = [];
  let inFlight = 0;
  const send = async (message: { capability: string; input: object }) => {
    inFlight++;
    const asTask = answers.length % 4 === 3;
    const outcome = await (asTask ? tally.submit(message).result() : tally.call(message));
    inFlight--;
    return outcome;
  };
  const ask = async (until: () => boolean) => {
    while (!until()) {
      const input = { order_id: orderIdOf(1 + (answers.length % orderCount)) };
      if (inFlight < inFlightMax) answers.push(send({ capability: "answer_customer", input }));
      await pause(gapMs);
    }
  };
  await ask(() => answers.length >= before);
  let replaced = false;
  const replacing = (async () => {
    const second = await enter(scene, "pre-sale-agent");
    const exit = await stage.dismiss(first, "SIGTERM", 20_000);
    return { second, exit };
  })().finally(() => {
    replaced = true;
  });
  await ask(() => replaced);
  const { second, exit } = await replacing;
  const enough = answers.length + after;
  await ask(() => answers.length >= enough);

  const outcomes = await within(Promise.all(answers), 30_000, "the answers to all customers");
  const byFirst = outcomes.filter(({ instanceId }) => instanceId === firstId).length;
  teller.check(
    exit.signal === "SIGTERM",
    `pid ${first.pid} left by itself (${exit.signal ?? exit.code}), pid ${second.pid} has taken over`,
  );
  const errors = outcomes.filter(({ ok }) => !ok);
  const [error] = errors;
  teller.check(
    errors.length === 0,
    `${outcomes.length} customers asked, ${outcomes.length - errors.length} were answered: ${byFirst} by the first, ${outcomes.length - byFirst} by the second${error === undefined ? "" : `; for one: ${error.errorMessage}`}`,
  );
  teller.check(byFirst > 0 && byFirst < outcomes.length, "no message was lost, and no caller saw an error");
}
