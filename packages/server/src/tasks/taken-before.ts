import { ReachError } from "@agent-reach/protocol";
import { mayTouch } from "../access/access.js";
import type { TaskRecord, TaskStore } from "../ports/task-store.js";
import type { MessageRequest } from "../router/message.js";
import { taskContent } from "./new-task.js";

/**
 * What stands against new work (a full disk, a rate, nobody who offers it any more) says nothing of what was taken before:
 * of that "not executed" may be untrue. Answers the tasks that these very requests are, if all of them are there, and
 * otherwise throws `refusal`; where it is the disk that does not say what it has, with the outcome in doubt.
 */
export async function takenBefore(
  refusal: unknown,
  store: TaskStore,
  requests: readonly MessageRequest[],
): Promise<TaskRecord[]> {
  if (!saysNotExecuted(refusal)) throw refusal;
  const found = await Promise.all(requests.map((request) => find(request, store)));
  const known = found.filter((task) => task !== undefined);
  if (known.length > 0) assertConfirmed(refusal);
  if (known.length < requests.length) throw refusal;
  return known;
}

/** Something is there in spite of this refusal: throws if that cannot be answered as taken. */
export function assertConfirmed(refusal: unknown): undefined {
  if (!saysNotExecuted(refusal)) throw refusal;
  if (refusal.details?.reason === "unconfirmed") throw ReachError.fromBody({ ...refusal.toBody(), outcome: "unknown" });
}

function saysNotExecuted(refusal: unknown): refusal is ReachError {
  return refusal instanceof ReachError && refusal.outcome === "not_executed";
}

async function find(request: MessageRequest, store: TaskStore): Promise<TaskRecord | undefined> {
  const task = await store.get(request.messageId).catch(() => undefined);
  if (task === undefined || !mayTouch(request.caller, task)) return undefined;
  return task.contentHash === taskContent(request) ? task : undefined;
}
