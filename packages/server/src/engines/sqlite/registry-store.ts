import type {
  AgentRecord,
  InstanceRecord,
  PutResult,
  RegistryChange,
  RegistryKind,
  RegistryPut,
  RegistryRecordOf,
  RegistryStore,
} from "../../ports/registry-store.js";
import { Watchers } from "../watchers.js";
import type { Database } from "./database.js";
import type { Row } from "./driver.js";
import { reading } from "./failures.js";
import type { Writer } from "./writer.js";

const ALL = -1;
const LAST_CHARACTER = "\u{10ffff}";

export class SqliteRegistryStore implements RegistryStore {
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #watchers = new Watchers();
  readonly #statements;
  /** The largest revision tried. After a rollback it stays ahead of the file, which only leaves a gap. */
  #revision: number;

  constructor(database: Database, writer: Writer) {
    this.#database = database;
    this.#writer = writer;
    this.#revision = database.meta("registry_revision");
    const { connection } = database;
    this.#statements = {
      get: connection.prepare("SELECT record FROM registry WHERE kind = ? AND key = ?"),
      revision: connection.prepare("SELECT revision FROM registry WHERE kind = ? AND key = ?"),
      put: connection.prepare("INSERT OR REPLACE INTO registry (kind, key, revision, record) VALUES (?, ?, ?, ?)"),
      remove: connection.prepare("DELETE FROM registry WHERE kind = ? AND key = ? AND revision = ?"),
      list: connection.prepare(
        "SELECT record FROM registry WHERE kind = ? AND key > ? AND key >= ? AND key < ? ORDER BY key LIMIT ?",
      ),
      all: connection.prepare("SELECT record FROM registry WHERE kind IN ('agent', 'instance')"),
    };
  }

  async get<K extends RegistryKind>(kind: K, key: string): Promise<RegistryRecordOf<K> | undefined> {
    const row = this.#read(() => this.#statements.get.get(kind, key));
    return row && parse<RegistryRecordOf<K>>(row);
  }

  put(changes: readonly RegistryPut[]): Promise<PutResult> {
    // Copied now: what the caller changes afterwards is not what it asked for.
    const copies = structuredClone(changes) as RegistryPut[];
    return this.#writer.write(
      () => this.#put(copies),
      (result) => {
        if (!result.ok) return;
        for (const { record } of copies) {
          if (record.kind !== "agent" && record.kind !== "instance") continue;
          this.#watchers.tell({ type: "put", revision: record.revision, record });
        }
      },
    );
  }

  remove(kind: RegistryKind, key: string, revision: number): Promise<boolean> {
    let removedAt = 0;
    return this.#writer.write(
      () => {
        if (!this.#statements.remove.run(kind, key, revision).changes) return false;
        removedAt = ++this.#revision;
        this.#database.setMeta("registry_revision", removedAt);
        return true;
      },
      (removed) => {
        if (!removed || (kind !== "agent" && kind !== "instance")) return;
        this.#watchers.tell({ type: "removed", revision: removedAt, kind, key });
      },
    );
  }

  async list<K extends RegistryKind>(
    kind: K,
    options: { prefix?: string; after?: string; limit?: number } = {},
  ): Promise<RegistryRecordOf<K>[]> {
    const { prefix = "", after = "", limit = ALL } = options;
    const rows = this.#read(() => this.#statements.list.all(kind, after, prefix, prefix + LAST_CHARACTER, limit));
    return rows.map(parse<RegistryRecordOf<K>>);
  }

  async watch(listener: (change: RegistryChange) => void): Promise<() => void> {
    const rows = this.#read(() => this.#statements.all.all());
    return this.#watchers.add(listener, rows.map(parse<AgentRecord | InstanceRecord>));
  }

  async revision(): Promise<number> {
    return this.#read(() => this.#database.meta("registry_revision"));
  }

  async close(): Promise<void> {
    this.#watchers.clear();
  }

  #put(changes: readonly RegistryPut[]): PutResult {
    const keys = new Set<string>();
    for (const { record, expected } of changes) {
      // Nobody can know the revision that an earlier change of the same `put` will get.
      const twice = keys.size === keys.add(`${record.kind} ${record.key}`).size;
      if (expected === undefined) continue;
      const stored = this.#statements.revision.get(record.kind, record.key)?.["revision"] ?? 0;
      if (twice || stored !== expected) return { ok: false, conflict: record.key };
    }
    for (const { record } of changes) {
      record.revision = ++this.#revision;
      this.#statements.put.run(record.kind, record.key, record.revision, JSON.stringify(record));
    }
    this.#database.setMeta("registry_revision", this.#revision);
    return { ok: true, revisions: changes.map(({ record }) => record.revision) };
  }

  #read<T>(read: () => T): T {
    return reading(this.#database.directory, read);
  }
}

function parse<T>(row: Row): T {
  return JSON.parse(row["record"] as string) as T;
}
