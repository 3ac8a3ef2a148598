import type { AgentRecord, InstanceRecord, RegistryChange } from "../ports/registry-store.js";

type Listener = (change: RegistryChange) => void;

/** Those who follow a registry (RS4). Snapshot and enrolment happen in one turn, so no change falls in between. */
export class Watchers {
  readonly #listeners = new Set<{ listener: Listener }>();

  add(listener: Listener, all: readonly (AgentRecord | InstanceRecord)[]): () => void {
    // The entry is an object of its own: one function may follow twice.
    const entry = { listener };
    for (const record of all) listener({ type: "put", revision: record.revision, record });
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  tell(change: RegistryChange): void {
    for (const { listener } of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        // A listener's mistake must neither undo what is stored nor keep the others in the dark; it still must be seen.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  get size(): number {
    return this.#listeners.size;
  }

  clear(): void {
    this.#listeners.clear();
  }
}
