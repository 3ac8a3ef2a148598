import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe } from "vitest";
import { journalConformance } from "../../ports/conformance/journal.js";
import { registryStoreConformance } from "../../ports/conformance/registry-store.js";
import { taskStoreConformance } from "../../ports/conformance/task-store.js";
import type { Engine } from "../engine.js";
import { openSqlite } from "./index.js";

describe("sqlite", () => {
  let engine: Engine;
  let directory: string;

  async function open(): Promise<Engine> {
    directory = mkdtempSync(join(tmpdir(), "reach-"));
    engine = await openSqlite(directory);
    return engine;
  }
  async function reopen(): Promise<Engine> {
    await engine.close();
    engine = await openSqlite(directory);
    return engine;
  }
  afterEach(async () => {
    await engine.close();
    rmSync(directory, { recursive: true });
  });

  registryStoreConformance({
    open: async () => (await open()).registry,
    reopen: async () => (await reopen()).registry,
  });
  taskStoreConformance({ open: async () => (await open()).tasks, reopen: async () => (await reopen()).tasks });
  journalConformance({ open: async () => (await open()).journal, reopen: async () => (await reopen()).journal });
});
