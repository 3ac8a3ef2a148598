import type {
  PutResult,
  RegistryChange,
  RegistryKind,
  RegistryPut,
  RegistryRecord,
  RegistryRecordOf,
  RegistryStore,
} from "../../ports/registry-store.js";
import { Watchers } from "../watchers.js";

export class MemoryRegistryStore implements RegistryStore {
  readonly #records: Record<RegistryKind, Map<string, RegistryRecord>> = {
    agent: new Map(),
    instance: new Map(),
    version: new Map(),
    fence: new Map(),
  };
  readonly #watchers = new Watchers();
  #revision = 0;

  async get<K extends RegistryKind>(kind: K, key: string): Promise<RegistryRecordOf<K> | undefined> {
    return structuredClone(this.#records[kind].get(key)) as RegistryRecordOf<K> | undefined;
  }

  async put(changes: readonly RegistryPut[]): Promise<PutResult> {
    const keys = new Set<string>();
    for (const { record, expected } of changes) {
      const stored = this.#records[record.kind].get(record.key)?.revision ?? 0;
      // Nobody can know the revision that an earlier change of the same `put` will get.
      const twice = keys.size === keys.add(`${record.kind} ${record.key}`).size;
      if (expected !== undefined && (twice || expected !== stored)) return { ok: false, conflict: record.key };
    }
    const records = changes.map(({ record }) => {
      const stored = { ...structuredClone(record), revision: ++this.#revision };
      this.#records[record.kind].set(record.key, stored);
      return stored;
    });
    for (const record of records) {
      if (record.kind !== "agent" && record.kind !== "instance") continue;
      this.#watchers.tell({ type: "put", revision: record.revision, record: structuredClone(record) });
    }
    return { ok: true, revisions: records.map((record) => record.revision) };
  }

  async remove(kind: RegistryKind, key: string, revision: number): Promise<boolean> {
    if (this.#records[kind].get(key)?.revision !== revision) return false;
    this.#records[kind].delete(key);
    this.#revision += 1;
    if (kind === "agent" || kind === "instance")
      this.#watchers.tell({ type: "removed", revision: this.#revision, kind, key });
    return true;
  }

  async list<K extends RegistryKind>(
    kind: K,
    options: { prefix?: string; after?: string; limit?: number } = {},
  ): Promise<RegistryRecordOf<K>[]> {
    const { prefix = "", after, limit = Number.POSITIVE_INFINITY } = options;
    const keys = [...this.#records[kind].keys()]
      .filter((key) => key.startsWith(prefix) && (after === undefined || key > after))
      .sort()
      .slice(0, limit);
    return keys.map((key) => structuredClone(this.#records[kind].get(key)) as RegistryRecordOf<K>);
  }

  async watch(listener: (change: RegistryChange) => void): Promise<() => void> {
    const all = [...this.#records.agent.values(), ...this.#records.instance.values()];
    return this.#watchers.add(
      listener,
      all.map((record) => structuredClone(record) as RegistryRecordOf<"agent" | "instance">),
    );
  }

  async revision(): Promise<number> {
    return this.#revision;
  }

  async close(): Promise<void> {
    this.#watchers.clear();
  }
}
