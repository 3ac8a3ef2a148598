import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readSynonyms } from "./synonyms.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "reach-synonyms-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const reading = (text: string) => {
  const file = join(dir, "synonyms.yaml");
  writeFileSync(file, text);
  return () => readSynonyms(file);
};
const refusal = (read: () => unknown): { code: string; message: string; path?: string } => {
  try {
    read();
  } catch (error) {
    return error as { code: string; message: string; path?: string };
  }
  throw new Error("it was taken");
};

describe("CAT-2: the file of synonyms", () => {
  test("is YAML or JSON, each name with its phrases", () => {
    expect(reading("data_fetch:\n  - run sql\n  - sql查询\n")()).toEqual({ data_fetch: ["run sql", "sql查询"] });
    expect(reading('{"data_fetch": ["run sql"]}')()).toEqual({ data_fetch: ["run sql"] });
  });

  test.each(["just words", "- a\n- b", "data_fetch: run sql", "data_fetch: [1]", ""])(
    "of another shape is refused with an example: %j",
    (text) => {
      const { code, path, message } = refusal(reading(text));
      expect({ code, path }).toEqual({ code: "INVALID_REQUEST", path: "catalog.synonymsFile" });
      expect(message).toContain('like "data_fetch: [run sql]"');
    },
  );

  test("that is missing or no YAML is refused with its name", () => {
    expect(refusal(() => readSynonyms(join(dir, "none.yaml"))).message).toContain("none.yaml cannot be read");
    expect(refusal(reading("a: [")).message).toContain("synonyms.yaml cannot be read");
  });
});
