import { describe } from "vitest";
import { journalConformance } from "../../ports/conformance/journal.js";
import { registryStoreConformance } from "../../ports/conformance/registry-store.js";
import { taskStoreConformance } from "../../ports/conformance/task-store.js";
import { openMemory } from "./index.js";

describe("memory", () => {
  registryStoreConformance({ open: async () => (await openMemory()).registry });
  taskStoreConformance({ open: async () => (await openMemory()).tasks });
  journalConformance({ open: async () => (await openMemory()).journal });
});
