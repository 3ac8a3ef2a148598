import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ReachNode, useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { root } from "../kit/sources.js";
import type { Json } from "../kit/wire.js";
import { eventually } from "../kit/within.js";

const dir = mkdtempSync(join(tmpdir(), "reach-synonyms-"));
afterAll(() => rmSync(dir, { recursive: true }));
const file = join(dir, "synonyms.yaml");
copyFileSync(join(root, "examples", "synonyms.yaml"), file);

const settingsOf = (synonymsFile: string) => ({ log: { level: "info" }, catalog: { synonymsFile } });
const node = useNode({ settings: settingsOf(file) });
const peers = usePeers(node, "file");
/** The lines of the node's log that speak of synonyms, as they are told. What follows the last line's end is half a line. */
const told = (): Json[] =>
  node()
    .stderr.split("\n")
    .slice(0, -1)
    .filter((line) => /synonyms/.test(line))
    .map((line) => JSON.parse(line));
/** Saves as editors do: whole, under another name, then in place of the old one. */
function save(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
const untilTold = (lines: number): Promise<Json[]> =>
  eventually(
    async () => {
      await node().http.get("/healthz");
      return told();
    },
    (all) => all.length >= lines,
    `line ${lines} on synonyms in the node's log`,
  );
const meant = async (intent: string): Promise<Json[]> =>
  (await node().http.post("/v1/discover", { intent })).body.candidates;

describe("CAT-2: a file of synonyms", () => {
  test("of the examples finds data_fetch by sql查询, and others by what people call them", async () => {
    const capabilities = ["data_fetch", "summarize", "translate", "notify", "web_search"].map((name) => ({ name }));
    await peers.join({ agentId: "worker", capabilities });
    for (const [intent, capability] of [
      ["sql查询", "data_fetch"],
      ["SQL 查詢", "data_fetch"],
      ["跑个sql", "data_fetch"],
      ["TL;DR", "summarize"],
      ["中翻英", "translate"],
      ["通知一下", "notify"],
      ["Google it!", "web_search"],
    ] as const)
      expect(await meant(intent)).toMatchObject([{ capability, match: 0.95, reasons: [`synonym of ${capability}`] }]);
    expect(told()).toEqual([]);
  });

  test("is read anew when it was saved; a broken one is told of once, with the line, and changes nothing", async () => {
    save("notify:\n  - 喊一嗓子\n");
    const [first] = await untilTold(1);
    expect(first).toMatchObject({ level: "info", msg: "synonyms read anew", file, phrases: 1 });
    expect(await meant("喊一嗓子")).toMatchObject([{ capability: "notify" }]);

    save("notify:\n  - 喊一嗓子\ntranslate:\n  - 喊一嗓子\n");
    const [, second] = await untilTold(2);
    expect(second!["level"]).toBe("warn");
    expect(second!["msg"]).toContain(`at ${file}:2, and for "translate" at ${file}:4`);
    expect(second!["msg"]).toContain("The synonyms that were read before stay in use.");
    expect(await meant("喊一嗓子")).toMatchObject([{ capability: "notify" }]);

    save("translate:\n  - 喊一嗓子\n");
    const [, , third, ...more] = await untilTold(3);
    expect(third).toMatchObject({ level: "info", msg: "synonyms read anew" });
    expect(await meant("喊一嗓子")).toMatchObject([{ capability: "translate" }]);
    expect(more).toEqual([]);
  });

  test("that is broken when the node starts keeps it from starting, and says where", async () => {
    const broken = join(dir, "broken.yaml");
    writeFileSync(broken, "notify: ping\n");
    const { code, stderr } = await ReachNode.refusal({ settings: settingsOf(broken) });
    expect(code).not.toBe(0);
    expect(stderr).toContain(`catalog.synonymsFile ${broken}:1 must give the phrases of "notify" as a list`);
  });
});
