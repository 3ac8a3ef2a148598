import { HashTable, OrderedTable } from "../../collections/hash-table.js";
import type { TaskRecord } from "../../ports/task-store.js";
import { isTerminal } from "../task-states.js";

const TASKS_MAX = 10_000;
/** In characters of input and data. */
const TEXT_MAX = 32 * 1024 * 1024;

/**
 * Tasks as they were last committed, those open and those whose submitter has yet to be told, so that claiming, settling or
 * acknowledging one that came a moment ago reads no row and parses no JSON. Only committed records enter, and every change passes through here, so the cache never differs from the file.
 */
export class TaskCache {
  readonly #bySeq = new OrderedTable<number, TaskRecord>();
  readonly #byMessageId = new HashTable<string, TaskRecord>();
  #textLength = 0;

  get(seq: number): TaskRecord | undefined {
    return this.#bySeq.get(seq);
  }

  find(messageId: string): TaskRecord | undefined {
    return this.#byMessageId.get(messageId);
  }

  /**
   * Tasks that have ended leave when their submitter knows: little is asked of them any more. Where there is no room, one that
   * has just joined the line stays outside: of all that wait it is wanted last.
   */
  put(task: TaskRecord): void {
    const known = this.drop(task.seq);
    if (isTerminal(task.state) && !task.notify) return;
    if (!known && task.state === "queued" && this.#isFull(task)) return;
    this.#bySeq.set(task.seq, task);
    this.#byMessageId.set(task.messageId, task);
    this.#textLength += lengthOf(task);
    while (this.#bySeq.size > TASKS_MAX || this.#textLength > TEXT_MAX) this.#removeOldest();
  }

  #isFull(task: TaskRecord): boolean {
    return this.#bySeq.size >= TASKS_MAX || this.#textLength + lengthOf(task) > TEXT_MAX;
  }

  /** The first key is the task that has been unchanged for longest. */
  #removeOldest(): void {
    this.drop(this.#bySeq.keys().next().value!);
  }

  /** Answers whether it was there. */
  drop(seq: number): boolean {
    const task = this.#bySeq.delete(seq);
    if (!task) return false;
    this.#byMessageId.delete(task.messageId);
    this.#textLength -= lengthOf(task);
    return true;
  }
}

function lengthOf({ input, data }: TaskRecord): number {
  return input.length + (data?.length ?? 0);
}
