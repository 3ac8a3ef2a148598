import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeSystem } from "../../../../../test/kit/fake-system.js";
import { loadDriver } from "../sqlite/driver.js";
import { VectorCache } from "./vector-cache.js";

let directory: string;
let file: string;
let system: FakeSystem;
let warnings: string[];
const open: VectorCache[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "agent-reach-vectors-"));
  file = join(directory, "deep", "embeddings.db");
  system = new FakeSystem();
  warnings = [];
});
afterEach(() => {
  for (const cache of open.splice(0)) cache.close();
  rmSync(directory, { recursive: true, force: true });
});
async function opened(rowsMax = 100): Promise<VectorCache> {
  const cache = await VectorCache.open(file, { rowsMax, system, warn: (text) => void warnings.push(text) });
  open.push(cache);
  return cache;
}
const unit = (n: number, dims = 8) => new Float32Array(dims).map((_, i) => (i === n % dims ? 1 : 0));
const entry = (key: string, n = 0) => [key, unit(n)] as const;
const dayMs = 86_400_000;

describe("CAT-4: the cache of vectors on disk", () => {
  test("gives back what was put in, also after it was opened again", async () => {
    const first = await opened();
    const vector = new Float32Array([0.6, -0.8, 0]);
    first.put("m", [
      ["a", vector],
      ["b", new Float32Array([0, 0, 1])],
    ]);
    expect(first.get("m", "a", 3)).toEqual(vector);
    first.close();
    const second = await opened();
    expect([second.size, second.get("m", "a", 3), second.get("m", "c", 3)]).toEqual([2, vector, undefined]);
    expect(warnings).toEqual([]);
  });

  test("never gives one space's vector to another", async () => {
    const cache = await opened();
    cache.put("m", [entry("a", 1)]);
    expect(cache.get("n", "a", 8)).toBeUndefined();
    cache.put("n", [entry("a", 2)]);
    expect([cache.get("m", "a", 8), cache.get("n", "a", 8)]).toEqual([unit(1), unit(2)]);
  });

  test("gives out nothing of a space that was forgotten, also when it begins again", async () => {
    const cache = await opened();
    cache.put("m", [entry("b", 3)]);
    cache.put("n", [entry("a", 1), entry("b", 2)]);
    cache.forget("n");
    expect(cache.get("n", "a", 8)).toBeUndefined();
    cache.put("n", [entry("a", 4)]);
    expect([cache.get("n", "a", 8), cache.get("n", "b", 8), cache.get("m", "b", 8)]).toEqual([
      unit(4),
      undefined,
      unit(3),
    ]);
    expect(cache.size).toBe(4);
  });

  test("keeps no more rows than it may: who was used longest ago goes, of one day who came first", async () => {
    const cache = await opened(3);
    cache.put("m", [entry("a"), entry("b"), entry("c")]);
    system.advance(dayMs);
    expect(cache.get("m", "a", 8)).toBeDefined();
    cache.put("m", [entry("d")]);
    const kept = () => ["a", "b", "c", "d", "e"].filter((key) => cache.get("m", key, 8) !== undefined).join("");
    expect([kept(), cache.size]).toEqual(["acd", 3]);
    cache.put("m", [entry("e")]);
    expect([kept(), cache.size]).toEqual(["cde", 3]);
  });

  test("keeps to the rows of a smaller setting from the next vector on", async () => {
    (await opened(10)).put(
      "m",
      ["a", "b", "c", "d"].map((key) => entry(key)),
    );
    open.pop()!.close();
    const cache = await opened(2);
    cache.put("m", [entry("e")]);
    expect([cache.size, cache.get("m", "e", 8)]).toEqual([2, unit(0)]);
  });

  test("does not give out a vector which is not one any more, and forgets it", async () => {
    (await opened()).put("m", [entry("a"), entry("b")]);
    open.pop()!.close();
    const raw = (await loadDriver())(file);
    raw.prepare("UPDATE vectors SET vector = ? WHERE key = 'a'").run(new Uint8Array(32).fill(0x7f));
    raw.close();
    const cache = await opened();
    expect([cache.get("m", "a", 8), cache.size, cache.get("m", "b", 8)]).toEqual([undefined, 1, unit(0)]);
    expect(cache.get("m", "b", 9)).toBeUndefined();
    expect(cache.size).toBe(0);
  });

  test("a file that is no cache is put aside, said, and a new one is begun", async () => {
    await opened();
    open.pop()!.close();
    const garbage = "this is not SQLite. ".repeat(400);
    writeFileSync(file, garbage);
    const cache = await opened();
    expect(warnings).toEqual([expect.stringMatching(/was damaged .*embeddings\.db\.damaged.*a new one is begun/)]);
    expect(readFileSync(`${file}.damaged`, "utf8")).toBe(garbage);
    cache.put("m", [entry("a")]);
    expect(cache.get("m", "a", 8)).toEqual(unit(0));
  });

  test("a file of another program or of another version is put aside too", async () => {
    for (const change of ["PRAGMA user_version = 99", "PRAGMA application_id = 1"]) {
      (await opened()).put("m", [entry("a")]);
      open.pop()!.close();
      const raw = (await loadDriver())(file);
      raw.exec(change);
      raw.close();
      expect((await opened()).size, change).toBe(0);
      open.pop()!.close();
    }
    expect(warnings).toHaveLength(2);
  });

  test("damage that shows only in use is put aside as well, and the embedder goes on", async () => {
    const many = Array.from({ length: 400 }, (_, i) => entry(`key ${i}`, i));
    (await opened(1000)).put("m", many);
    open.pop()!.close();
    const bytes = readFileSync(file);
    // Of the first page, which is read when the file is opened, all stays.
    bytes.fill(0xa5, 4096);
    writeFileSync(file, bytes);
    const cache = await opened(1000);
    for (const [key] of many) expect(cache.get("m", key, 8)).toBeUndefined();
    expect(warnings.join()).toMatch(/was damaged/);
    cache.put("m", [entry("new", 3)]);
    expect([cache.get("m", "new", 8), existsSync(`${file}.damaged`)]).toEqual([unit(3), true]);
  });

  test("a place where no file can be made switches the cache off and says so, once", async () => {
    writeFileSync(join(directory, "deep"), "a file where a folder should be");
    const cache = await opened();
    cache.put("m", [entry("a")]);
    cache.forget("m");
    expect([cache.get("m", "a", 8), cache.size]).toEqual([undefined, 0]);
    expect(warnings).toEqual([expect.stringMatching(/cannot be used .*see to the disk/)]);
  });

  test("after it is closed it knows nothing and breaks nothing", async () => {
    const cache = await opened();
    cache.close();
    cache.put("m", [entry("a")]);
    expect(cache.get("m", "a", 8)).toBeUndefined();
  });
});
