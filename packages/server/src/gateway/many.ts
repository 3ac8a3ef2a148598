import { ReachError } from "@agent-reach/protocol";
import { itemsOf } from "../json/items.js";
import { rawAt } from "../json/raw.js";
import type { MessageRequest } from "../router/message.js";
import { errorOfItem } from "../tasks/batches.js";
import { type Origin, type RawParams, readMessage } from "./messages.js";
import { check } from "./validate.js";

export interface Many {
  readonly groupId: string;
  readonly requests: readonly MessageRequest[];
}

/** Reads the parameters of `submit.many`: what `submit` takes, many times, each in any spelling. An error names the item. */
export function readMany(params: unknown, raw: RawParams, origin: Origin): Many {
  const { tasks, groupId: given } = params as { tasks?: unknown; groupId?: unknown };
  if (!Array.isArray(tasks) || tasks.length === 0)
    throw new ReachError("INVALID_REQUEST", `"tasks" must be a list of at least one task.`, { path: "tasks" });
  if (given !== undefined) check("group.get", { groupId: given });
  const groupId = (given as string | undefined) ?? origin.system.newId();
  const texts = itemsOf(raw.raw("tasks") ?? JSON.stringify(tasks));
  const requests = tasks.map((item: unknown, at): MessageRequest => {
    const text = texts[at]!;
    const itemRaw: RawParams = { raw: (key) => rawAt(text, [key]), text: () => text };
    try {
      const request = readMessage("submit", item, itemRaw, origin);
      return { ...request, envelope: { ...request.envelope, groupId: groupFor(request, groupId) } };
    } catch (error) {
      throw error instanceof ReachError ? errorOfItem(error, at) : error;
    }
  });
  return { groupId, requests };
}

function groupFor({ envelope }: MessageRequest, groupId: string): string {
  if (envelope.dryRun === true)
    throw new ReachError("INVALID_REQUEST", "dry runs go one by one, by submit.", { path: "dryRun" });
  if (envelope.groupId === undefined || envelope.groupId === groupId) return groupId;
  throw new ReachError(
    "INVALID_REQUEST",
    `the group is "${envelope.groupId}" here and "${groupId}" for all; name it beside the tasks alone.`,
    { path: "groupId" },
  );
}
