import type { Row } from "./driver.js";
import type { taskStatements } from "./task-statements.js";

/** Keeps `blocked` true (TS5): of the queued tasks with one orderKey it is 0 for the one that may go, and for no other. */
export class TaskOrder {
  readonly #statements: ReturnType<typeof taskStatements>;

  constructor(statements: ReturnType<typeof taskStatements>) {
    this.#statements = statements;
  }

  /** Within a transaction: whether this task waits behind others of its order, and so must not be put into anybody's hands. */
  holds(seq: number): boolean {
    return this.#statements.isBlocked.get(seq) !== undefined;
  }

  /** Within a transaction, after a task of this order came or changed. Answers who may go and might not before. */
  arrange(orderKey: string): Row | undefined {
    const { firstOf, taken, setBlocked } = this.#statements;
    const head = firstOf.get(orderKey, 0);
    const headSeq = head?.["seq"] as number | undefined;
    const isTaken = taken.get(orderKey) !== undefined;
    const next = isTaken ? undefined : firstOf.get(orderKey, 1);
    if (head && !isTaken && !(next && isBefore(next, head))) return undefined;
    if (headSeq !== undefined) setBlocked.run(1, headSeq);
    if (next) setBlocked.run(0, next["seq"]!);
    return next;
  }
}

function isBefore(one: Row, other: Row): boolean {
  const [a, b] = [one["order_at"] as number, other["order_at"] as number];
  return a === b ? (one["seq"] as number) < (other["seq"] as number) : a < b;
}
