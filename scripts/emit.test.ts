import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const script = fileURLToPath(new URL("emit.mjs", import.meta.url));
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "emit-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const emit = (...args: string[]) => spawnSync(process.execPath, [script, "--dir", dir, ...args], { encoding: "utf8" });

test("the check names what is missing or stale, and is content with what was just written", () => {
  const missing = emit("--check");
  expect(missing.status).toBe(1);
  expect(missing.stderr).toContain("schema.json, errors.json, openapi.json");

  expect(emit().status).toBe(0);
  expect(emit("--check").status).toBe(0);

  appendFileSync(join(dir, "errors.json"), " ");
  const stale = emit("--check");
  expect(stale.status).toBe(1);
  expect(stale.stderr).toContain("Stale: errors.json.");
});
