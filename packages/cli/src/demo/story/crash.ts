import { auditPoints, orderIdOf } from "../orders.js";
import { enter, type Scene } from "../scene.js";
import { within, withResolvers } from "../stage.js";

export const taskCount = 1000;
export const points = 10;
/** How many are done when the agent is killed. */
const killAt = 300;
const patienceMs = 60_000;

/** A batch of durable tasks with effects, and an agent that is killed while it works on them. */
export async function showCrash(scene: Scene): Promise<void> {
  const { teller, tally, orders, cast, stage, client } = scene;
  teller.step(
    `${taskCount} durable tasks, and kill -9 in the middle`,
    `${taskCount} customers get ${points} points. Each is a task: once accepted it is on disk, and stays there until it is done. ` +
      `After ${killAt} of them the order agent is killed without warning, with work in its hands.`,
  );
  // Before the work begins: nothing may come between the moment when so many are done and the kill.
  const missed = withResolvers<void>();
  const watch = await client.watch({ agentId: "order-agent" }, ({ type }) => {
    if (type === "instance.suspect") missed.resolve();
  });
  const startedAt = performance.now();
  let done = 0;
  const some = withResolvers<void>();
  const handles = Array.from({ length: taskCount }, (_, n) =>
    tally.submit({
      capability: "add_points",
      input: { order_id: orderIdOf(n + 1), points },
      idempotencyKey: `points-for-${orderIdOf(n + 1)}`,
      groupId: "points",
    }),
  );
  const results = handles.map(async (handle) => {
    const outcome = await handle.result();
    if (++done === killAt) some.resolve();
    return outcome;
  });
  await within(some.promise, patienceMs, `${killAt} tasks to be done`);
  const victim = cast.get("order-agent")!;
  const { signal } = await stage.dismiss(victim, "SIGKILL");
  const doneBefore = done;
  await within(missed.promise, patienceMs, "the node to miss the order agent");
  watch.close();
  teller.check(
    signal === "SIGKILL",
    `kill -9 ${victim.pid}, with ${doneBefore} done; the node misses it at once, and its tasks wait`,
  );
  const accepted = await Promise.all(handles.map((handle) => handle.accepted));
  const onDisk = accepted.filter(({ ok }) => ok).length;
  teller.check(onDisk === taskCount, `${onDisk} tasks are on disk: nobody who submitted them noticed`);

  const next = await enter(scene, "order-agent");
  teller.tell(`started again as pid ${next.pid}; it finds its work where it left it`);
  const outcomes = await within(Promise.all(results), patienceMs, "the rest of the tasks");
  const completed = outcomes.filter(({ state }) => state === "completed").length;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  teller.check(
    completed === taskCount,
    `${completed} of ${taskCount} done, ${seconds} s after the first was submitted`,
  );

  const again = outcomes.filter(({ task }) => (task?.attempt ?? 0) > 1).length;
  teller.check(again > 0, `${again} were delivered again: they were in its hands when it died`);
  const audit = auditPoints(orders, points);
  teller.check(
    audit.applied === taskCount && audit.twice === 0,
    `the database: ${audit.applied} orders have their points, ${audit.twice} have them twice`,
  );
  teller.tell(
    `${audit.repeats} of the ${again} had had their effect before the kill, and nobody had been told: the order agent keeps the ` +
      "idempotencyKey with the effect in one transaction, so it knew them, and gave the same answer",
  );
}
