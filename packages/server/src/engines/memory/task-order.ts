import type { TaskRecord } from "../../ports/task-store.js";
import { placeOf } from "../order-place.js";
import { isTerminal } from "../task-states.js";

interface Line {
  /** Queued tasks, first one first. */
  readonly waiting: { readonly place: number; readonly seq: number }[];
  /** Those in somebody's hands or stalled, by seq. */
  readonly out: Set<number>;
}

/** Who stands before whom (TS5). Only tasks with an orderKey come here. */
export class TaskOrder {
  readonly #lines = new Map<string, Line>();

  /** The one that may go, by seq. */
  first(orderKey: string): number | undefined {
    const line = this.#lines.get(orderKey);
    return line === undefined || line.out.size > 0 ? undefined : line.waiting[0]?.seq;
  }

  /** A task came or changed. */
  put(task: TaskRecord): void {
    const orderKey = task.orderKey!;
    const line = this.#lines.get(orderKey) ?? { waiting: [], out: new Set<number>() };
    const place = placeOf(task);
    const at = placeIn(line.waiting, place, task.seq);
    const waits = line.waiting[at]?.seq === task.seq;
    const queued = task.state === "queued";
    if (waits && !queued) line.waiting.splice(at, 1);
    if (queued && !waits) line.waiting.splice(at, 0, { place, seq: task.seq });
    if (queued || isTerminal(task.state)) line.out.delete(task.seq);
    else line.out.add(task.seq);
    if (line.waiting.length + line.out.size > 0) this.#lines.set(orderKey, line);
    else this.#lines.delete(orderKey);
  }
}

/** Binary search: where (place, seq) stands, or would stand. */
function placeIn(waiting: Line["waiting"], place: number, seq: number): number {
  let low = 0;
  let high = waiting.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = waiting[middle]!;
    if (other.place < place || (other.place === place && other.seq < seq)) low = middle + 1;
    else high = middle;
  }
  return low;
}
