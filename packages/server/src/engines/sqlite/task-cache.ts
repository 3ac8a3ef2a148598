import type { TaskRecord } from "../../ports/task-store.js";
import { isTerminal } from "../task-states.js";

const TASKS_MAX = 50_000;
/** In characters of input. */
const TEXT_MAX = 32 * 1024 * 1024;

/**
 * Open tasks as they were last committed, so that claiming or settling one that came a moment ago reads no row and parses no
 * JSON. Only committed records enter, and every change passes through here, so the cache never differs from the file.
 */
export class TaskCache {
  readonly #bySeq = new Map<number, TaskRecord>();
  readonly #byMessageId = new Map<string, TaskRecord>();
  #textLength = 0;

  get(seq: number): TaskRecord | undefined {
    return this.#bySeq.get(seq);
  }

  find(messageId: string): TaskRecord | undefined {
    return this.#byMessageId.get(messageId);
  }

  /** Terminal tasks leave: little is asked of them any more. */
  put(task: TaskRecord): void {
    this.#remove(task.seq);
    if (isTerminal(task.state)) return;
    this.#bySeq.set(task.seq, task);
    this.#byMessageId.set(task.messageId, task);
    this.#textLength += task.input.length;
    while (this.#bySeq.size > TASKS_MAX || this.#textLength > TEXT_MAX) {
      // A Map keeps the order of insertion: its first key is the task that has been unchanged for longest.
      const [oldest] = this.#bySeq.keys();
      this.#remove(oldest!);
    }
  }

  #remove(seq: number): void {
    const task = this.#bySeq.get(seq);
    if (!task) return;
    this.#bySeq.delete(seq);
    this.#byMessageId.delete(task.messageId);
    this.#textLength -= task.input.length;
  }
}
