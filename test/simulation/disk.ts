import { type JournalEvent, ReachError } from "@agent-reach/protocol";
import type { Engine } from "../../packages/server/src/engines/engine.js";
import { MemoryRegistryStore } from "../../packages/server/src/engines/memory/registry-store.js";
import { MemoryTaskStore } from "../../packages/server/src/engines/memory/task-store.js";
import type { Journal } from "../../packages/server/src/ports/journal.js";
import type { RegistryChange, RegistryStore } from "../../packages/server/src/ports/registry-store.js";
import type { TaskRecord, TaskStore } from "../../packages/server/src/ports/task-store.js";
import type { Chance } from "./chance.js";
import type { Process } from "./process.js";
import type { World } from "./world.js";

/** How the disk is at the moment. */
export interface DiskHealth {
  full: boolean;
  /** A write takes up to so long until it is committed, and again until that is said, ms. */
  slowMs: number;
}

/**
 * What outlives the node: the memory engine's stores, each write of which takes a while to be committed, and another until
 * it is answered. A process that ends in between loses what was not committed, and keeps what was, whoever heard of it.
 * Writes are committed in the order in which they were asked for, as by the one writer of SQLite.
 */
export class Disk {
  readonly health: DiskHealth = { full: false, slowMs: 2 };
  readonly tasks = new MemoryTaskStore();
  readonly #registry = new MemoryRegistryStore();
  readonly #claimed = new Set<string>();
  #committedAt = 0;
  #answeredAt = 0;

  constructor(
    private readonly world: World,
    private readonly chance: Chance,
    /** A task was stored. */
    private readonly onTask: (task: TaskRecord) => void,
    /** The node heard of it. */
    private readonly onAnswered: (task: TaskRecord) => void,
    /** An agent or an instance was stored or forgotten. */
    private readonly onRegistry: (change: RegistryChange) => void,
  ) {}

  /** The stores as this process sees them; all claims of the one before are forgotten. */
  open(process: Process): Engine {
    this.tasks.release([...this.#claimed]);
    this.#claimed.clear();
    // It has nothing to close but the ears of those who watched.
    void this.#registry.close();
    void this.#registry.watch(this.onRegistry);
    return {
      registry: this.#registryFor(process),
      tasks: this.#tasksFor(process),
      journal: new ShortJournal(),
      close: async () => {},
    };
  }

  /** Resolves in the process that asked, if it is still there by then. */
  #write<T>(process: Process, commit: () => Promise<T>): Promise<T> {
    const { world, chance, health } = this;
    return new Promise((resolve, reject) => {
      const at = Math.max(this.#committedAt, world.now + chance.between(0.05, health.slowMs));
      this.#committedAt = at;
      // In the order in which they were committed, since one confirmation of the disk stands for all before it.
      const answer = (say: () => void) => {
        this.#answeredAt = Math.max(this.#answeredAt, world.now + chance.between(0.05, health.slowMs));
        world.at(this.#answeredAt, () => process.enter(say));
      };
      world.at(at, () =>
        process.enter(() => {
          if (health.full) {
            const refusal = new ReachError("NOT_READY", "the disk is full; free some space.", { retryAfterMs: 1000 });
            return void answer(() => reject(refusal));
          }
          commit().then(
            (value) => answer(() => resolve(value)),
            (error) => answer(() => reject(error)),
          );
        }),
      );
    });
  }

  /** Nobody sees what is committed and not confirmed: whoever reads waits for the confirmation. */
  #read<T>(process: Process, look: () => Promise<T>): Promise<T> {
    const { world } = this;
    if (this.#answeredAt <= world.now) return look();
    return new Promise((resolve, reject) => {
      world.at(this.#answeredAt, () => process.enter(() => look().then(resolve, reject)));
    });
  }

  #tasksFor(process: Process): TaskStore {
    const { tasks } = this;
    const stored = (task: TaskRecord | undefined) => {
      if (task === undefined) return;
      this.#claimed.delete(task.messageId);
      this.onTask(task);
    };
    return {
      insert: (task) =>
        this.#write(process, async () => {
          const inserted = await tasks.insert(task);
          if (!inserted.duplicate) stored(inserted.task);
          return inserted;
        }),
      insertAll: (many, isSame) =>
        this.#write(process, async () => {
          const result = await tasks.insertAll(many, isSame);
          if (result.ok) for (const { task, duplicate } of result.inserted) if (!duplicate) stored(task);
          return result;
        }),
      update: (task, data) =>
        this.#write(process, async () => {
          const updated = await tasks.update(task, data);
          stored(updated);
          return updated;
        }).then((updated) => {
          if (updated !== undefined) this.onAnswered(updated);
          return updated;
        }),
      trim: (before, limit) => this.#write(process, () => tasks.trim(before, limit)),
      get: (messageId) => this.#read(process, () => tasks.get(messageId)),
      claimDue: (claim) =>
        this.#read(process, async () => {
          const claimed = await tasks.claimDue(claim);
          for (const { messageId } of claimed.tasks) this.#claimed.add(messageId);
          return claimed;
        }),
      release: (messageIds) => {
        for (const messageId of messageIds) this.#claimed.delete(messageId);
        tasks.release(messageIds);
      },
      lastEnded: (orderKey) => this.#read(process, () => tasks.lastEnded(orderKey)),
      list: (filter, page) => this.#read(process, () => tasks.list(filter, page)),
      counts: () => this.#read(process, () => tasks.counts()),
      countGroup: (groupId) => this.#read(process, () => tasks.countGroup(groupId)),
      countOpenGroups: () => this.#read(process, () => tasks.countOpenGroups()),
    };
  }

  #registryFor(process: Process): RegistryStore {
    const registry = this.#registry;
    return {
      get: (kind, key) => registry.get(kind, key),
      put: (changes) => this.#write(process, () => registry.put(changes)),
      remove: (kind, key, revision) => this.#write(process, () => registry.remove(kind, key, revision)),
      list: (kind, options) => registry.list(kind, options),
      watch: (listener) => registry.watch(listener),
      revision: () => registry.revision(),
      close: async () => {},
    };
  }
}

/** Nothing is ever decided from the journal, and the timeline is told elsewhere: it keeps the last id, no more. */
class ShortJournal implements Journal {
  #lastId = 0;

  async append(events: readonly JournalEvent[]): Promise<void> {
    for (const { id } of events) this.#lastId = Math.max(this.#lastId, id);
  }
  async byMessage(): Promise<JournalEvent[]> {
    return [];
  }
  async byTrace(): Promise<JournalEvent[]> {
    return [];
  }
  async since(): Promise<{ events: JournalEvent[]; gap: boolean }> {
    return { events: [], gap: true };
  }
  async trim(): Promise<number> {
    return 0;
  }
  async lastId(): Promise<number> {
    return this.#lastId;
  }
}
