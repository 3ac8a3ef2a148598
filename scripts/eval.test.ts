import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const script = fileURLToPath(new URL("eval.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "agent-reach-eval-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cap = (id: string, name: string, description: string) => ({
  id,
  name,
  description,
  operation: "",
  objectType: "",
  tags: [],
  lang: "en",
});
writeFileSync(
  join(folder, "xsid_zh2en.json"),
  JSON.stringify({
    caps: [
      cap("weather", "Weather forecast", "Tell the weather, rain or wind"),
      cap("music", "Play music", "Play a song"),
      // Two that are called the same are two capabilities all the same.
      cap("songs", "Play music", "Play a song from a list of songs"),
    ],
    // The sixth example would take the request away.
    pool: { weather: ["明天天气怎么样"], music: ["a", "b", "c", "d", "e", "明天会下雨吗"] },
    q: [
      { t: "明天会下雨吗", y: "weather" },
      { t: "明天的天气", y: "weather" },
    ],
    dev: [],
    oos: [],
  }),
);

const evaluated = (...args: string[]) =>
  spawnSync(process.execPath, [script, "--in-the-box", ...args], { encoding: "utf8" });

describe("CAT-9: npm run eval", () => {
  test("measures a set with five examples a card, and holds the figures against what is wanted", () => {
    const { status, stdout } = evaluated("--set", "xsid", "--data", folder, "--json");
    expect(status).toBe(0);
    const { rows, split } = JSON.parse(stdout);
    expect(split).toBe("test");
    expect(rows).toMatchObject([
      { row: "xSID zh → en card, top-1", unit: "%", wanted: 66, values: { "in the box": 100 } },
      { row: "xSID zh → en card, top-3", unit: "%", wanted: 89, values: { "in the box": 100 } },
    ]);
  });

  test("prints them as a table with their date", () => {
    const { stdout } = evaluated("--set", "xsid", "--data", folder);
    expect(stdout).toMatch(/^Measured on \d{4}-\d\d-\d\d on the test splits/);
    expect(stdout).toContain("| xSID zh → en card, top-1 | ≥ 66 % | 100.0 % | pass |");
  });

  test.each([
    [["--set", "nope", "--data", "."], "there is no set nope; there are clinc, metatool"],
    [["--data", "/nowhere"], "/nowhere is missing, which should hold the labelled data"],
  ])("exits with 2 for %j", (args, message) => {
    const { status, stderr } = evaluated(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });
});
