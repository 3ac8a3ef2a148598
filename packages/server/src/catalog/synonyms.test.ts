import type { ReachError } from "@agent-reach/protocol";
import { describe, expect, test } from "vitest";
import { type Synonym, Synonyms } from "./synonyms.js";

const synonym = (phrase: string, name: string, line: number): Synonym => ({
  phrase,
  name,
  origin: `words.yaml:${line}`,
});

describe("CAT-2: synonyms", () => {
  const synonyms = new Synonyms([synonym("SQL 查询", "data_fetch", 1), synonym("pull-the data", "data_fetch", 2)]);

  test.each(["sql查询", "SQL 查询", "ＳＱＬ查询", "sql查詢", " Sql  查询？", "Pull the Data!", "pull_the_data…"])(
    "are told in any case, spacing, width and Chinese script, whatever mark stands at the end: %j",
    (phrase) => expect(synonyms.find(phrase)).toBe("data_fetch"),
  );

  test.each(["sql", "查询", "pullthedata", "", "?"])("are told by the whole phrase alone: %j", (phrase) =>
    expect(synonyms.find(phrase)).toBeUndefined(),
  );

  test("of one name may be repeated in other spellings", () => {
    expect(new Synonyms([synonym("sql查询", "a", 1), synonym("SQL 查询", "a", 2)]).size).toBe(1);
  });

  test("of two names are refused with the lines of both", () => {
    let refused: ReachError | undefined;
    try {
      new Synonyms([synonym("sql查询", "data_fetch", 3), synonym("SQL 查詢", "run_sql", 9)]);
    } catch (error) {
      refused = error as ReachError;
    }
    expect(refused).toMatchObject({ code: "INVALID_REQUEST", path: "catalog.synonymsFile" });
    expect(refused!.message).toContain('"sql查询" stand for "data_fetch" at words.yaml:3');
    expect(refused!.message).toContain('for "run_sql" at words.yaml:9 (as "SQL 查詢")');
  });
});
