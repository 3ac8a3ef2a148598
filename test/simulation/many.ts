import type { SubmitEnvelope } from "@agent-reach/protocol";
import type { Client } from "../../packages/sdk/src/client.js";
import { SubmitOutcome, TaskOutcome } from "../../packages/sdk/src/outcome.js";
import type { TaskHandle } from "../../packages/sdk/src/tasks.js";

/** Submits a task as one of many would be, with no others beside it, and follows it as if it had been submitted alone. */
export function submitAsMany(
  client: Client,
  groupId: string,
  envelope: SubmitEnvelope & { messageId: string },
): Pick<TaskHandle, "accepted" | "result" | "cancel"> {
  const { messageId } = envelope;
  const accepted = client.submitMany([envelope], { groupId }).accepted.then((outcome) => {
    return new SubmitOutcome(messageId, "", outcome.data?.tasks[0], outcome.toError()?.toBody());
  });
  // A duplicate is the task submitted first, and that one may bear another id.
  const task = accepted.then((outcome) => client.task(outcome.messageId));
  return {
    accepted,
    result: async () => {
      const error = (await accepted).toError();
      return error === undefined ? (await task).result() : new TaskOutcome(messageId, "", undefined, error.toBody());
    },
    cancel: async (reason) => (await task).cancel(reason),
  };
}
