import type { Params } from "@agent-reach/protocol";
import type { LiveInstance } from "../registry/instance.js";
import { errorOf } from "../router/agent-error.js";
import { parseReceipt } from "../tasks/run.js";
import type { Rooms } from "./rooms.js";

export type Completion =
  | { recorded: true }
  | { recorded: false; reason: "SETTLED" | "STALE_ATTEMPT" | "STALE_EPOCH" | "UNKNOWN" };

/** `complete`, over whatever edge it came: the result of a call in flight, or of a task. Raw JSON texts as they came. */
export async function complete(
  rooms: Rooms,
  instance: LiveInstance,
  params: Params<"complete">,
  dataText: string | undefined,
  receiptText: string | undefined,
): Promise<Completion> {
  const no = (reason: "SETTLED" | "STALE_ATTEMPT" | "STALE_EPOCH" | "UNKNOWN"): Completion => ({
    recorded: false,
    reason,
  });
  const { messageId, attempt, status } = params;
  // What an earlier run achieved is achieved; only its failures count no more.
  if (params.epoch !== undefined && params.epoch !== instance.record.epoch && status === "failed")
    return no("STALE_EPOCH");
  const data = dataText ?? "null";
  const call = rooms.calls.complete(messageId, instance.record.instanceId, attempt, (receiver) => {
    if (status === "completed") receiver.completed(data, receiptText, params.data);
    else receiver.failed(errorOf(params.error), receiptText);
  });
  if (call !== undefined) return call === "recorded" ? { recorded: true } : no(call);
  const receipt = parseReceipt(receiptText);
  const result = status === "completed" ? { data, receipt } : { error: errorOf(params.error), receipt };
  const task = await rooms.tasks.complete(messageId, instance.record, attempt, result);
  return task === "recorded" ? { recorded: true } : no(task);
}
