import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLine } from "../../../../test/kit/command-line.js";

describe("agent-reach config", () => {
  it("CLU-6: shows every setting with its origin", async () => {
    const { code, out } = await commandLine(["config", "show", "--port", "9000"], {
      env: { AGENT_REACH_LEASE_TTL_SEC: "60" },
    });
    expect(code).toBe(0);
    expect(out).toMatch(/server\.port +9000 +--port/);
    expect(out).toMatch(/lease\.ttlSec +60 +AGENT_REACH_LEASE_TTL_SEC/);
    expect(out).toMatch(/data\.dir +\.agent-reach +default/);
  });

  it("CAT-5: shows that a key is set, and not the key", async () => {
    const env = {
      AGENT_REACH_CATALOG_LLM_BASE_URL: "https://api.example/v1",
      AGENT_REACH_CATALOG_LLM_MODEL: "m",
      AGENT_REACH_CATALOG_LLM_KEY: "sk-0123456789",
    };
    const table = await commandLine(["config", "show"], { env });
    expect(table.out).toMatch(/catalog\.llm\.key +hidden +AGENT_REACH_CATALOG_LLM_KEY/);
    const { out, err } = await commandLine(["config", "show", "--json"], { env });
    expect(JSON.parse(out).config.catalog.llm).toMatchObject({ model: "m", key: "hidden" });
    expect(table.out + table.err + out + err).not.toContain("sk-0123456789");
  });

  it("CLU-6, SEC-1: checks what serve would refuse, with exit code 2", async () => {
    const { code, err } = await commandLine(["config", "check", "--host", "0.0.0.0"]);
    expect(code).toBe(2);
    expect(err).toContain("--insecure");
    expect((await commandLine(["config", "check"])).out).toBe("The settings are fine.\n");
  });

  it("CLU-6, CAT-2: checks the file of synonyms as well, and tells the line that is wrong", async () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-reach-check-"));
    try {
      const file = join(folder, "synonyms.yaml");
      const check = () => commandLine(["config", "check", "--catalog-synonyms-file", file]);
      writeFileSync(file, "data_fetch:\n  - run sql\nreport.build:\n  - Run SQL\n");
      const { code, out, err } = await check();
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toContain(`catalog.synonymsFile has "run sql" stand for "data_fetch" at ${file}:2`);
      writeFileSync(file, "data_fetch:\n  - run sql\n");
      expect(await check()).toMatchObject({ code: 0, out: "The settings are fine.\n" });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("knows every setting as a flag, with a short spelling for those that everyone types", async () => {
    const { out } = await commandLine([
      "config",
      "show",
      "--json",
      "--data",
      "/d",
      "--webhook-allow-private",
      "false",
      "--delivery-backoff-ms",
      "1s,2s",
    ]);
    const { config } = JSON.parse(out);
    expect(config.data.dir).toBe("/d");
    expect(config.webhook.allowPrivate).toBe(false);
    expect(config.delivery.backoffMs).toEqual([1000, 2000]);
  });
});
