import { ReachError, type Task } from "@agent-reach/protocol";
import { parseDurationMs } from "./arguments.js";
import type { Context } from "./context.js";
import { exitCodes } from "./exit.js";
import { layOutJson, memberText } from "./render/json.js";
import { isSettled } from "./render/tasks.js";
import { formatDuration } from "./render/time.js";

/** One question to the node waits this long at most; then it is asked again, so that no proxy loses patience. */
const askMsMax = 20_000;

/** `--wait` alone is for as long as it takes; undefined: do not wait. */
export function parseWait(wait: string | boolean | undefined): number | undefined {
  if (wait === undefined || wait === false) return undefined;
  return wait === true || wait === "" ? Number.POSITIVE_INFINITY : parseDurationMs(wait);
}

/** The task's text when it is settled, or as it stands after `waitMs`. */
export async function awaitTask(
  here: Context,
  messageId: string,
  waitMs: number,
): Promise<{ text: string; task: Task }> {
  const { http } = await here.operator();
  const started = here.io.now();
  return here.waiting(`waiting for task ${messageId}`, async (say) => {
    for (;;) {
      const left = Math.max(0, waitMs - (here.io.now() - started));
      const text = await http.text("GET", `/v1/tasks/${encodeURIComponent(messageId)}`, {
        query: { waitMs: Math.min(askMsMax, left) },
      });
      const task = JSON.parse(text) as Task;
      // A stalled task waits for a person, and may do so for ever.
      if (isSettled(task) || task.state === "stalled" || here.io.now() - started >= waitMs) return { text, task };
      say(`task ${messageId} is ${task.state}, ${formatDuration(here.io.now() - started)}`);
    }
  });
}

/** Waits, then prints the data of a task that completed; one that failed is an error, one that did not end exit code 5. */
export async function followTask(here: Context, messageId: string, waitMs: number): Promise<void> {
  const { text, task } = await awaitTask(here, messageId, waitMs);
  exitByState(here, task);
  if (here.json) return here.printJsonText(text);
  if (task.state === "completed") {
    here.printJsonText(layOutJson(memberText(text, "data") ?? "null"));
    const tries = task.attempt > 1 ? ` after ${task.attempt} tries` : "";
    here.remark(
      `${here.paint.name(task.agentId ?? "an agent")}${tries}${here.paint.dim(`; see: agent-reach task ${messageId}`)}`,
    );
  } else if (isSettled(task)) {
    const { readError } = await import("@agent-reach/sdk/operator");
    throw readError(task.error) ?? new ReachError("CANCELED", `the task ${messageId} is ${task.state}`);
  } else {
    throw new ReachError(
      "TIMEOUT",
      `the task ${messageId} is ${task.state} and goes on; ask again with \`agent-reach task ${messageId} --wait\``,
      {
        details: { messageId, state: task.state },
      },
    );
  }
}

export function exitByState(here: Context, task: Task): void {
  if (!isSettled(task)) here.exitWith(exitCodes.unfinished);
  else if (task.state !== "completed") here.exitWith(exitCodes.refused);
}
