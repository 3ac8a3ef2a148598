import { describe, expect, test } from "vitest";
import { sources } from "./kit/sources.js";

/** What this release owes, by id. A requirement that no test names is one that nobody would miss. */
const owed = [
  ...ids("REG", "1-9 11 12"),
  ...ids("LIVE", "1-12"),
  ...ids("CAT", "1-9"),
  ...ids("ROUTE", "1-4 7 8 11"),
  ...ids("DLV", "1-21"),
  ...ids("RES", "1-10"),
  ...ids("SDK", "1-3 5-8"),
  ...ids("EDGE", "5"),
  ...ids("OBS", "1-3 6"),
  ...ids("SEC", "1"),
  ...ids("CLU", "6"),
];

function ids(group: string, numbers: string): string[] {
  return numbers.split(" ").flatMap((part) => {
    const [from, to = from] = part.split("-").map(Number) as [number, number?];
    return Array.from({ length: to! - from + 1 }, (_, n) => `${group}-${from + n}`);
  });
}

/** The titles of all tests and of the groups around them. */
function titlesOf(code: string): string[] {
  const call =
    /\b(?:test|it|describe)(?:\.\w+(?:\([\s\S]*?\)(?=\s*\())?)*\s*\(\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/g;
  return [...code.matchAll(call)].map((match) => match[1]!.slice(1, -1));
}

describe("requirements", () => {
  const files = ["packages", "test", "scripts"].flatMap((folder) =>
    sources(folder, (path) => path.endsWith(".test.ts")),
  );

  test("each one that this release owes is named by a test's title", () => {
    const named = new Set(
      files.flatMap(({ text }) => titlesOf(text).flatMap((title) => title.match(/\b[A-Z]+-\d+\b/g) ?? [])),
    );
    const missing = owed.filter((id) => !named.has(id));
    expect(missing, `not named by any test: ${missing.join(", ")}`).toEqual([]);
  });

  test("the list is read as it is meant", () => {
    expect(owed).toContain("REG-11");
    expect(owed).not.toContain("REG-10");
    expect(owed.filter((id) => id.startsWith("DLV"))).toHaveLength(21);
  });

  test("titles are found in every way to write a test, and only there", () => {
    const code =
      'test("A-1: x", f); describe("B-2", () => {}); it.each([["q", 1]])("C-3 %s", f); test(`D-4`, f); const e = "E-5"; // "F-6"';
    expect(titlesOf(code)).toEqual(["A-1: x", "B-2", "C-3 %s", "D-4"]);
  });
});
