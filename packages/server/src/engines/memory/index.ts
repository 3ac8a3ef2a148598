import type { System } from "../../ports/system.js";
import type { Engine } from "../engine.js";
import { MemoryJournal } from "./journal.js";
import { MemoryRegistryStore } from "./registry-store.js";
import { MemoryTaskStore } from "./task-store.js";

/** The reference: plain maps, for tests and for nodes that may forget. Nothing survives the process. */
export async function openMemory(_system?: System): Promise<Engine> {
  const registry = new MemoryRegistryStore();
  return {
    registry,
    tasks: new MemoryTaskStore(),
    journal: new MemoryJournal(),
    close: () => registry.close(),
  };
}
