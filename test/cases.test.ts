import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Areas that this release answers for. Clusters, security, edges, meaning and the dashboard are still to come. */
const AREAS = "LICDROPMTSFW";
/** What has no place here yet, with the reason on the page. */
const elsewhere = new Set(["D30", "D31", "S06"]);

const cases = [...read("../shared/cases/cases.md").matchAll(/^### ([A-Z]\d\d) /gm)]
  .map((match) => match[1]!)
  .filter((id) => AREAS.includes(id[0]!));

/** Ids that stand in the title of a test or of a group of tests. */
function namedByTests(): Set<string> {
  const found = new Set<string>();
  for (const folder of ["packages", "test"]) {
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!/\.test\.ts$|conformance\/.*\.ts$/.test(file) || /node_modules|dist\//.test(file)) continue;
      const titles = read(join(folder, file)).matchAll(/\b(?:test|it|describe)(?:\.\w+)?\(\s*["`'](.*)["`'],/g);
      for (const [, title] of titles) for (const [id] of title!.matchAll(/\b[A-Z]\d\d\b/g)) found.add(id);
    }
  }
  return found;
}

test("every case of these areas is named by a test, or the page says why it has no place here", () => {
  expect(cases.length).toBeGreaterThan(80);
  const named = namedByTests();
  expect(cases.filter((id) => !named.has(id) && !elsewhere.has(id))).toEqual([]);
  expect([...elsewhere].filter((id) => named.has(id))).toEqual([]);
});

test("the page of cases has a row for each, and no other", () => {
  const rows = [...read("docs/reference/cases.md").matchAll(/^\| ([A-Z]\d\d) \| .+ \|$/gm)].map((match) => match[1]);
  expect(rows).toEqual(cases);
});
