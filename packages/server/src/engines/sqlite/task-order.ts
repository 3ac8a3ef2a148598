import type { Claims } from "./claims.js";
import type { Row } from "./driver.js";
import type { taskStatements } from "./task-statements.js";

/** Keeps `blocked` true (TS5): of the queued tasks with one orderKey it is 0 for none but the one that may go. */
export class TaskOrder {
  readonly #statements: ReturnType<typeof taskStatements>;
  readonly #claims: Claims;

  constructor(statements: ReturnType<typeof taskStatements>, claims: Claims) {
    this.#statements = statements;
    this.#claims = claims;
  }

  /**
   * Within a transaction, after a task of this order came, changed or was given back. Answers who may go and might not before.
   * `changed`: the seq of the task that has changed, whose claim ends by that.
   */
  arrange(orderKey: string, changed?: number): Row | undefined {
    const { firstOf, taken, setBlocked } = this.#statements;
    const head = firstOf.get(orderKey, 0);
    const headSeq = head?.["seq"] as number | undefined;
    // One that is claimed may be on its way: whoever came before it meanwhile has come too late.
    if (headSeq !== undefined && headSeq !== changed && this.#claims.has(headSeq)) return undefined;
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
