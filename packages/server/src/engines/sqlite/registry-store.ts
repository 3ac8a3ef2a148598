import type {
  AgentRecord,
  InstanceRecord,
  PutResult,
  RegistryChange,
  RegistryKind,
  RegistryPut,
  RegistryRecord,
  RegistryRecordOf,
  RegistryStore,
} from "../../ports/registry-store.js";
import { Watchers } from "../watchers.js";
import type { Database } from "./database.js";
import type { Row } from "./driver.js";
import { RegistryPlaces } from "./registry-places.js";
import type { Writer } from "./writer.js";

const ALL = -1;
const LAST_CHARACTER = "\u{10ffff}";
const META = "registry_revision";

/**
 * Agents, instances and the fence are appended under their revision; `places` knows which row is whose. Versions, of which
 * there may be very many, lie in a table of their own by key.
 */
export class SqliteRegistryStore implements RegistryStore {
  readonly #database: Database;
  readonly #writer: Writer;
  readonly #watchers = new Watchers();
  readonly #places = new RegistryPlaces();
  readonly #statements;
  /** The largest revision tried. After a rollback it stays ahead of the file, which only leaves a gap. */
  #revision: number;

  constructor(database: Database, writer: Writer) {
    this.#database = database;
    this.#writer = writer;
    const { connection } = database;
    this.#statements = {
      last: connection.prepare("SELECT max(revision) AS revision FROM registry"),
      get: connection.prepare("SELECT revision, record FROM registry WHERE revision = ?"),
      append: connection.prepare("INSERT INTO registry (revision, kind, key, record) VALUES (?, ?, ?, ?)"),
      remove: connection.prepare("DELETE FROM registry WHERE revision IN (SELECT value FROM json_each(?))"),
      all: connection.prepare("SELECT revision, kind, key, record FROM registry ORDER BY revision"),
      version: connection.prepare("SELECT revision, record FROM versions WHERE key = ?"),
      putVersion: connection.prepare("INSERT OR REPLACE INTO versions (key, revision, record) VALUES (?, ?, ?)"),
      removeVersion: connection.prepare("DELETE FROM versions WHERE key = ? AND revision = ?"),
      versions: connection.prepare(
        "SELECT revision, record FROM versions WHERE key > ? AND key >= ? AND key < ? ORDER BY key LIMIT ?",
      ),
    };
    this.#revision = this.#lastRevision();
    const places = connection.prepare("SELECT revision, kind, key FROM registry ORDER BY revision");
    for (const { kind, key, revision } of places.all())
      this.#places.put(kind as RegistryKind, key as string, revision as number);
    this.#places.end(true);
    writer.onEnd((stored) => this.#places.end(stored));
  }

  async get<K extends RegistryKind>(kind: K, key: string): Promise<RegistryRecordOf<K> | undefined> {
    const row = await this.#writer.read(() => this.#row(kind, key));
    return row && parse<RegistryRecordOf<K>>(row);
  }

  put(changes: readonly RegistryPut[]): Promise<PutResult> {
    // Put into words now: what the caller changes afterwards is not what it asked for.
    const texts = changes.map(({ record }) => JSON.stringify(record));
    return this.#writer.write(
      () => this.#put(changes, texts),
      (result) => {
        if (!result.ok) return;
        for (const [i, { record }] of changes.entries()) {
          if (record.kind !== "agent" && record.kind !== "instance") continue;
          const revision = result.revisions[i]!;
          this.#watchers.tell({ type: "put", revision, record: { ...record, revision } });
        }
      },
    );
  }

  remove(kind: RegistryKind, key: string, revision: number): Promise<boolean> {
    let removedAt = 0;
    return this.#writer.write(
      () => {
        if (!this.#remove(kind, key, revision)) return false;
        removedAt = ++this.#revision;
        this.#database.setMeta(META, removedAt);
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
    const { prefix = "", after = "", limit } = options;
    const rows = await this.#writer.read(() =>
      kind === "version"
        ? this.#statements.versions.all(after, prefix, prefix + LAST_CHARACTER, limit ?? ALL)
        : this.#places.keys(kind, prefix, after, limit).map((key) => this.#row(kind, key)!),
    );
    return rows.map(parse<RegistryRecordOf<K>>);
  }

  watch(listener: (change: RegistryChange) => void): Promise<() => void> {
    return this.#writer.read(() => {
      const rows = this.#statements.all
        .all()
        .filter(
          ({ kind, key, revision }) =>
            (kind === "agent" || kind === "instance") && this.#places.of(kind, key as string) === revision,
        );
      return this.#watchers.add(listener, rows.map(parse<AgentRecord | InstanceRecord>));
    });
  }

  revision(): Promise<number> {
    return this.#writer.read(() => this.#lastRevision());
  }

  async close(): Promise<void> {
    this.#watchers.clear();
  }

  #put(changes: readonly RegistryPut[], texts: readonly string[]): PutResult {
    for (const [i, { record, expected }] of changes.entries()) {
      if (expected === undefined) continue;
      // Nobody can know the revision that an earlier change of the same `put` will get.
      if (this.#revisionOf(record) !== expected || isNamedBefore(changes, i))
        return { ok: false, conflict: record.key };
    }
    const revisions: number[] = [];
    for (const [i, { record }] of changes.entries()) {
      const revision = ++this.#revision;
      revisions.push(revision);
      if (record.kind === "version") this.#statements.putVersion.run(record.key, revision, texts[i]!);
      else {
        this.#statements.append.run(revision, record.kind, record.key, texts[i]!);
        this.#places.put(record.kind, record.key, revision);
      }
    }
    // Revisions of rows speak for themselves.
    if (changes.at(-1)?.record.kind === "version") this.#database.setMeta(META, this.#revision);
    this.#delete(this.#places.toDelete());
    return { ok: true, revisions };
  }

  #remove(kind: RegistryKind, key: string, revision: number): boolean {
    if (kind === "version") return Number(this.#statements.removeVersion.run(key, revision).changes) > 0;
    if (this.#places.of(kind, key) !== revision) return false;
    this.#places.remove(kind, key);
    // None of the older rows may be left, or after a restart it would be the newest.
    this.#delete(this.#places.toDelete(0));
    return true;
  }

  #delete(rows: readonly number[]): void {
    if (rows.length > 0) this.#statements.remove.run(JSON.stringify(rows));
  }

  #revisionOf({ kind, key }: RegistryRecord): number {
    const stored = kind === "version" ? this.#statements.version.get(key)?.["revision"] : this.#places.of(kind, key);
    return (stored as number | undefined) ?? 0;
  }

  #row(kind: RegistryKind, key: string): Row | undefined {
    if (kind === "version") return this.#statements.version.get(key);
    const revision = this.#places.of(kind, key);
    return revision === undefined ? undefined : this.#statements.get.get(revision);
  }

  #lastRevision(): number {
    return Math.max(this.#database.meta(META), (this.#statements.last.get()!["revision"] as number | null) ?? 0);
  }
}

function isNamedBefore(changes: readonly RegistryPut[], i: number): boolean {
  const { kind, key } = changes[i]!.record;
  for (let before = 0; before < i; before++) {
    const { record } = changes[before]!;
    if (record.kind === kind && record.key === key) return true;
  }
  return false;
}

function parse<T extends RegistryRecord>(row: Row): T {
  const record = JSON.parse(row["record"] as string) as T;
  record.revision = row["revision"] as number;
  return record;
}
