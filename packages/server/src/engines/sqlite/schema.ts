import { UNNUMBERED } from "../order-place.js";
import { PRINCIPAL } from "./task-given.js";
import { FRESH } from "./task-progress.js";

/** "Reac": tells a store of ours from any other SQLite file. */
export const APPLICATION_ID = 0x52656163;

/**
 * Each entry brings the file from the version of its index to the next; none is ever changed once released.
 *
 * Binding a value and keeping an index cost more than anything else, so `tasks` has columns only for what is searched for:
 * `given` (JSON) is what the sender said and never changes, `progress` (JSON) what has happened since.
 * - A state is its number in `storedStates`: a list of names in a condition would cost more than the index itself.
 * - What claims, deadlines and retention look for has partial indexes: a task is in few of them at any time.
 * - Of the queued tasks with one `orderKey` all but the one that may be handed out are `blocked`; `order_at` is their place.
 * - Names in the journal are random, and one index over many would write a page for nearly every event. They are grouped into
 *   segments of some thousand, each written at once, and a search looks once into each (`JournalIndex`).
 * - `registry` is appended to, since its newest records then share a few pages; what a newer one supersedes is deleted later,
 *   many at once. Where each record stands is known in memory.
 * - Long texts lie in `texts` (at 2 * seq the input, at 2 * seq + 1 the data), since an update writes its whole row anew.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO meta VALUES ('clean', 1), ('registry_revision', 0), ('task_seq', 0), ('journal_forgotten', 0);

  CREATE TABLE registry (
    kind TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) WITHOUT ROWID;

  CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL DEFAULT 1,
    state INTEGER NOT NULL DEFAULT 0,
    lane TEXT NOT NULL,
    blocked INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    deadline_at INTEGER NOT NULL,
    settled_at INTEGER,
    notify INTEGER NOT NULL DEFAULT 0,
    capability TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    scoped_key TEXT,
    group_id TEXT,
    order_key TEXT,
    far INTEGER NOT NULL DEFAULT 0,
    given TEXT NOT NULL,
    progress TEXT NOT NULL DEFAULT '${FRESH}',
    input TEXT,
    data TEXT
  );
  CREATE UNIQUE INDEX tasks_message ON tasks (message_id);
  CREATE UNIQUE INDEX tasks_key ON tasks (scoped_key) WHERE scoped_key IS NOT NULL;
  CREATE INDEX tasks_group ON tasks (group_id) WHERE group_id IS NOT NULL;
  CREATE INDEX tasks_queue ON tasks (lane, blocked, due_at, seq, capability, created_at) WHERE state = 0;
  CREATE INDEX tasks_deadline ON tasks (deadline_at) WHERE state = 0;
  CREATE INDEX tasks_due ON tasks (due_at) WHERE state > 0 AND state < 4;
  CREATE INDEX tasks_order ON tasks (order_key, seq) WHERE order_key IS NOT NULL AND state < 4;
  CREATE INDEX tasks_settled ON tasks (settled_at) WHERE state >= 4;
  CREATE INDEX tasks_trouble ON tasks (seq) WHERE state >= 5;
  CREATE INDEX tasks_notify ON tasks (seq) WHERE notify = 1;

  CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);

  CREATE TABLE journal (
    last_id INTEGER PRIMARY KEY,
    events INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    content TEXT NOT NULL
  );
  CREATE TABLE journal_keys (
    segment INTEGER NOT NULL, key INTEGER NOT NULL, last_id INTEGER NOT NULL,
    PRIMARY KEY (segment, key, last_id)
  ) WITHOUT ROWID;
  `,
  `
  ALTER TABLE registry RENAME TO registry_by_key;
  CREATE TABLE registry (
    revision INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, record TEXT NOT NULL
  );
  CREATE TABLE versions (
    key TEXT PRIMARY KEY, revision INTEGER NOT NULL, record TEXT NOT NULL
  ) WITHOUT ROWID;
  INSERT INTO registry (revision, kind, key, record)
    SELECT revision, kind, key, record FROM registry_by_key WHERE kind <> 'version';
  INSERT INTO versions (key, revision, record) SELECT key, revision, record FROM registry_by_key WHERE kind = 'version';
  DROP TABLE registry_by_key;
  `,
  `
  ALTER TABLE tasks ADD COLUMN order_at INTEGER;
  UPDATE tasks SET order_at = ${UNNUMBERED} WHERE order_key IS NOT NULL;
  DROP INDEX tasks_order;
  CREATE INDEX tasks_order ON tasks (order_key, blocked, order_at, seq) WHERE order_key IS NOT NULL AND state = 0;
  CREATE INDEX tasks_taken ON tasks (order_key) WHERE order_key IS NOT NULL AND state > 0 AND state < 4;
  CREATE INDEX tasks_ended ON tasks (order_key, order_at) WHERE order_key IS NOT NULL AND state >= 4;
  `,
  `
  CREATE INDEX tasks_group_state ON tasks (group_id, ${PRINCIPAL}, state) WHERE group_id IS NOT NULL;
  `,
];
