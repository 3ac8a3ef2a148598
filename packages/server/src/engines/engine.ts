import type { Journal } from "../ports/journal.js";
import type { RegistryStore } from "../ports/registry-store.js";
import type { TaskStore } from "../ports/task-store.js";

/** What one technology offers: the three stores, opened and closed together. */
export interface Engine {
  readonly registry: RegistryStore;
  readonly tasks: TaskStore;
  readonly journal: Journal;
  /** Resolves when what was asked for before is stored, and nothing is held any more. */
  close(): Promise<void>;
}
