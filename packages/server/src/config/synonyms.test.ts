import type { ReachError } from "@agent-reach/protocol";
import { describe, expect, test } from "vitest";
import { readSynonyms, type SynonymLine } from "./synonyms.js";

const read = (text: string): SynonymLine[] => readSynonyms("synonyms.yaml", { ok: true, text });
const refusal = (read: () => unknown): ReachError => {
  try {
    read();
  } catch (error) {
    return error as ReachError;
  }
  throw new Error("it was taken");
};

describe("CAT-2: the file of synonyms", () => {
  test("is YAML or JSON, each name with its phrases and their lines", () => {
    const lines = [
      { phrase: "run sql", name: "data_fetch", origin: "synonyms.yaml:2" },
      { phrase: "sql查询", name: "data_fetch", origin: "synonyms.yaml:3" },
    ];
    expect(read("data_fetch:\n  - run sql\n  - sql查询\n")).toEqual(lines);
    expect(read('{"data_fetch":\n["run sql",\n"sql查询"]}')).toEqual(lines);
  });

  test("takes what is written as text: numbers and words that elsewhere are values", () => {
    expect(read("call_police: [110, no, null]").map(({ phrase }) => phrase)).toEqual(["110", "no", "null"]);
  });

  test("may have names whose phrases are commented out", () => {
    expect(read("a:\n#  - b\nc:\n  - d\n")).toEqual([{ phrase: "d", name: "c", origin: "synonyms.yaml:4" }]);
  });

  test.each([
    ["just words", "synonyms.yaml:1 must map each capability or tag to a list"],
    ["- a\n- b", "synonyms.yaml:1 must map each capability or tag to a list"],
    ["", "synonyms.yaml must map each capability or tag to a list"],
    ["a:\n  - b\nc: run sql", 'synonyms.yaml:3 must give the phrases of "c" as a list'],
    ["a:\n  b: [c]", 'synonyms.yaml:2 must give the phrases of "a" as a list'],
    ["a:\n  - b\n  - [c]", 'synonyms.yaml:3 must be a phrase that stands for "a"'],
    ['a:\n  - ""', 'synonyms.yaml:2 must be a phrase that stands for "a"'],
    [": [a]", "synonyms.yaml:1 has no name before its phrases"],
  ])("of another shape is refused with the line and an example: %j", (text, words) => {
    const { code, path, message } = refusal(() => read(text));
    expect({ code, path }).toEqual({ code: "INVALID_REQUEST", path: "catalog.synonymsFile" });
    expect(message).toContain(`catalog.synonymsFile ${words}`);
    expect(message).toContain('like "data_fetch: [run sql]"');
  });

  test("that is no YAML is refused with the place", () => {
    expect(refusal(() => read("a:\n  - b\n c: [")).message).toMatch(/synonyms\.yaml:3:\d+ is not YAML or JSON: /);
  });

  test("with one name at two places is refused with both lines", () => {
    const { message } = refusal(() => read("a:\n  - b\nc:\n  - d\na:\n  - e\n"));
    expect(message).toContain('synonyms.yaml:5 has "a" a second time, after synonyms.yaml:1');
  });

  test("that cannot be read is refused with what is the matter", () => {
    const missing = { ok: false, problem: "there is no such file" } as const;
    expect(refusal(() => readSynonyms("none.yaml", missing)).message).toContain(
      "catalog.synonymsFile none.yaml cannot be read: there is no such file",
    );
  });
});
