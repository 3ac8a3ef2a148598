import { describe, expect, test } from "vitest";
import { carriersOf, plainLevelsOf } from "./tags.js";

/** Capabilities with their tags, looked up as the view has them: each tag and its parents. */
const cards: Record<string, string[]> = {
  run_sql: ["data/fetch/sql"],
  read_csv: ["data/fetch/csv", "finance"],
  backup: ["data/store", "finance"],
  pay: ["finance/pay"],
};
const lookup = (plain: string) => {
  const carries = (tags: string[]) => tags.some((tag) => `${tag}/`.startsWith(`${plain}/`));
  const names = new Set(Object.keys(cards).filter((name) => carries(cards[name]!)));
  return names.size === 0 ? [] : [{ tag: plain, names }];
};
const carriers = (tags: string[], among?: string[]) =>
  carriersOf(tags, lookup, among && new Set(among)).map(({ name, up, reasons }) => ({ [name]: up, reasons }));

describe("CAT-2: who carries a tag", () => {
  test("is whoever has it, then whoever has its nearest parent that anybody has, with the level as the reason", () => {
    expect(carriers(["data/fetch/sql"])).toEqual([{ run_sql: 0, reasons: ["tag data/fetch/sql"] }]);
    expect(carriers(["data/fetch/xml"])).toEqual([
      { run_sql: 1, reasons: ["tag data/fetch, 1 above data/fetch/xml"] },
      { read_csv: 1, reasons: ["tag data/fetch, 1 above data/fetch/xml"] },
    ]);
    expect(carriers(["data/move/xml/big"]).map(({ reasons }) => reasons[0])).toEqual(
      Array(3).fill("tag data, 3 above data/move/xml/big"),
    );
    expect(carriers(["nothing/of/the/kind"])).toEqual([]);
  });

  test("of several tags is whoever has all of them", () => {
    expect(carriers(["data", "finance"]).map((each) => Object.keys(each)[0])).toEqual(["read_csv", "backup"]);
    expect(carriers(["data/fetch/sql", "data"])).toEqual([{ run_sql: 0, reasons: ["tag data/fetch/sql", "tag data"] }]);
  });

  test("goes up from each tag no further than needed for one who has all", () => {
    expect(carriers(["data/fetch/sql", "finance"])).toEqual([
      { read_csv: 1, reasons: ["tag data/fetch, 1 above data/fetch/sql", "tag finance"] },
    ]);
    expect(carriers(["data/move", "finance/tax"])).toEqual([
      { read_csv: 2, reasons: ["tag data, 1 above data/move", "tag finance, 1 above finance/tax"] },
      { backup: 2, reasons: ["tag data, 1 above data/move", "tag finance, 1 above finance/tax"] },
    ]);
    expect(carriers(["data/store", "finance/pay"])).toEqual([
      { backup: 1, reasons: ["tag data/store", "tag finance, 1 above finance/pay"] },
    ]);
  });

  test("is nobody who lacks one of them altogether", () => {
    expect(carriers(["data", "weather"])).toEqual([]);
  });

  test("among some is the nearest of these", () => {
    expect(carriers(["data/fetch/sql"], ["backup", "pay"])).toEqual([
      { backup: 2, reasons: ["tag data, 2 above data/fetch/sql"] },
    ]);
  });

  test("without a tag is nobody", () => {
    expect(carriers([])).toEqual([]);
    expect(carriers(["/"])).toEqual([]);
  });
});

test("CAT-2: a tag's levels are the same in any case, script, width and way to join words", () => {
  expect(plainLevelsOf("Data/Fetch_SQL")).toEqual(["data", "fetch sql"]);
  expect(plainLevelsOf(" data / fetch-sql /")).toEqual(["data", "fetch sql"]);
  expect(plainLevelsOf("資料／查詢")).toEqual(plainLevelsOf("资料/查询"));
});
