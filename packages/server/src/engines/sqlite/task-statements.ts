import { UNNUMBERED } from "../order-place.js";
import type { Connection } from "./driver.js";
import { FLYING, ORDERED, QUEUED, TERMINAL, TROUBLE } from "./stored-states.js";
import { PRINCIPAL } from "./task-given.js";
import {
  INSERT_RARE_TASK,
  INSERT_SENT_TASK,
  INSERT_TASK,
  SELECT_TASK,
  UPDATE_SETTLED,
  UPDATE_STEP,
  UPDATE_WHOLE,
  UPDATE_WHOLE_AND_DATA,
} from "./task-rows.js";

/** Everything the task store asks of SQLite, prepared once. */
export function taskStatements(connection: Connection) {
  const prepare = (sql: string) => connection.prepare(sql);
  return {
    insert: prepare(INSERT_TASK),
    insertSent: prepare(INSERT_SENT_TASK),
    insertRare: prepare(INSERT_RARE_TASK),
    updateSettled: prepare(UPDATE_SETTLED),
    updateStep: prepare(UPDATE_STEP),
    updateWhole: prepare(UPDATE_WHOLE),
    updateWholeAndData: prepare(UPDATE_WHOLE_AND_DATA),
    bySeq: prepare(`${SELECT_TASK} WHERE seq = ?`),
    byMessageId: prepare(`${SELECT_TASK} WHERE message_id = ?`),
    byKey: prepare(`${SELECT_TASK} WHERE scoped_key = ?`),
    anyKey: prepare("SELECT 1 FROM tasks INDEXED BY tasks_key WHERE scoped_key IS NOT NULL LIMIT 1"),

    taken: prepare(
      `SELECT 1 FROM tasks INDEXED BY tasks_taken WHERE ${ORDERED} AND ${FLYING} AND order_key = ? LIMIT 1`,
    ),
    firstOf: prepare(
      `${SELECT_TASK} INDEXED BY tasks_order WHERE ${ORDERED} AND ${QUEUED} AND order_key = ? AND blocked = ?
         ORDER BY order_at, seq LIMIT 1`,
    ),
    isBlocked: prepare(`SELECT 1 FROM tasks WHERE seq = ? AND ${QUEUED} AND blocked = 1`),
    setBlocked: prepare("UPDATE tasks SET blocked = ? WHERE seq = ?"),
    lastEnded: prepare(
      `SELECT max(order_at) AS last FROM tasks INDEXED BY tasks_ended WHERE ${ORDERED} AND ${TERMINAL} AND order_key = ?
         AND order_at < ${UNNUMBERED}`,
    ),

    queued: prepare(
      `SELECT seq, due_at AS at FROM tasks INDEXED BY tasks_queue WHERE ${QUEUED} AND lane = ? AND blocked = 0
         AND (due_at, seq) > (?, ?) ORDER BY due_at, seq LIMIT ?`,
    ),
    due: prepare(
      `SELECT seq, due_at AS at FROM tasks INDEXED BY tasks_due WHERE ${FLYING} AND (due_at, seq) > (?, ?) ORDER BY due_at, seq LIMIT ?`,
    ),
    deadline: prepare(
      `SELECT seq, deadline_at AS at FROM tasks INDEXED BY tasks_deadline WHERE ${QUEUED} AND (deadline_at, seq) > (?, ?)
         ORDER BY deadline_at, seq LIMIT ?`,
    ),

    size: prepare("SELECT count(*) AS size, coalesce(max(seq), 0) AS seq FROM tasks"),
    lanes: prepare(
      `SELECT lane, capability, count(*) AS queued, count(due_at) AS waiting, min(due_at) AS firstDueAt,
         min(CASE WHEN due_at IS NOT NULL THEN created_at END) AS oldestAt
         FROM tasks INDEXED BY tasks_queue WHERE ${QUEUED} GROUP BY lane, capability`,
    ),
    flying: prepare(`SELECT state, count(*) AS count FROM tasks INDEXED BY tasks_due WHERE ${FLYING} GROUP BY state`),
    trouble: prepare(
      `SELECT state, count(*) AS count FROM tasks INDEXED BY tasks_trouble WHERE ${TROUBLE} GROUP BY state`,
    ),
    overdueAt: prepare(
      `SELECT min(at) AS at FROM (
         SELECT min(due_at) AS at FROM tasks INDEXED BY tasks_due WHERE ${FLYING}
         UNION ALL SELECT min(deadline_at) FROM tasks INDEXED BY tasks_deadline WHERE ${QUEUED})`,
    ),

    groupCount: prepare(
      `SELECT group_id AS groupId, ${PRINCIPAL} AS principal, state, count(*) AS count FROM tasks INDEXED BY tasks_group_state
         WHERE group_id = ? GROUP BY ${PRINCIPAL}, state`,
    ),
    openGroups: prepare(
      `SELECT group_id AS groupId, ${PRINCIPAL} AS principal, state, count(*) AS count FROM tasks INDEXED BY tasks_group_state
         WHERE group_id IS NOT NULL AND state < 4 GROUP BY group_id, ${PRINCIPAL}, state`,
    ),
    beginAll: prepare("SAVEPOINT all_or_none"),
    undoAll: prepare("ROLLBACK TO all_or_none"),
    endAll: prepare("RELEASE all_or_none"),

    settled: prepare(
      `SELECT seq, far FROM tasks INDEXED BY tasks_settled WHERE ${TERMINAL} AND settled_at < ? ORDER BY settled_at, seq LIMIT ?`,
    ),
    remove: prepare("DELETE FROM tasks WHERE seq = ?"),

    text: prepare("SELECT text FROM texts WHERE id = ?"),
    putText: prepare("INSERT OR REPLACE INTO texts (id, text) VALUES (?, ?)"),
    removeTexts: prepare("DELETE FROM texts WHERE id IN (?, ?)"),
  };
}
