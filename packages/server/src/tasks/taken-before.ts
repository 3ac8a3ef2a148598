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
  if (!(refusal instanceof ReachError) || refusal.outcome !== "not_executed") throw refusal;
  const found = await Promise.all(requests.map((request) => find(request, store)));
  const known = found.filter((task) => task !== undefined);
  if (refusal.details?.reason === "unconfirmed" && known.length > 0)
    throw ReachError.fromBody({ ...refusal.toBody(), outcome: "unknown" });
  if (known.length < requests.length) throw refusal;
  return known;
}

async function find(request: MessageRequest, store: TaskStore): Promise<TaskRecord | undefined> {
  const task = await store.get(request.messageId).catch(() => undefined);
  if (task === undefined || !mayTouch(request.caller, task)) return undefined;
  return task.contentHash === taskContent(request) ? task : undefined;
}
