import { orderIdOf } from "../orders.js";
import { enter, type Scene } from "../scene.js";
import { within } from "../stage.js";

const deadlineMs = 800;

/** A task that nobody could do in time, and an operator who sends it again. */
export async function showDeadLetter(scene: Scene): Promise<void> {
  const { teller, tally, cast, stage, operator, client } = scene;
  teller.step(
    "A dead letter, sent again",
    `The after-sale agent goes home. A return comes in which may wait ${deadlineMs} ms at most. Nothing is thrown away: what could not be done lies in dead letters.`,
  );
  await stage.dismiss(cast.get("after-sale-agent")!, "SIGTERM");
  const { state } = await client.agent("after-sale-agent");
  const handle = tally.submit({
    capability: "open_return",
    input: { order_id: orderIdOf(42), reason: "too loud" },
    deadlineMs,
  });
  const dead = await within(handle.result(), 20_000, "the task to become a dead letter");
  teller.check(
    dead.state === "dead",
    `the agent is ${state}; after ${deadlineMs} ms the task is ${dead.state}: ${dead.errorMessage}`,
  );
  const letters = await operator.deadLetters();
  teller.check(
    letters.tasks.length === 1,
    `agent-reach dead list: ${letters.tasks.map((task) => task.capability).join(", ")}`,
  );

  await enter(scene, "after-sale-agent");
  await operator.requeue({ messageIds: [handle.messageId] });
  const done = await operator.task(handle.messageId, { waitMs: 20_000 });
  teller.check(
    done.state === "completed",
    `the agent is back; agent-reach dead requeue ${handle.messageId.slice(0, 8)}… → ${done.state}`,
  );
  const { tasks: left } = await operator.deadLetters();
  teller.check(left.length === 0, `${left.length} dead letters are left`);
}
