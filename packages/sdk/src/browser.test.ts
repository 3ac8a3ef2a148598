import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { sdkVersion } from "./version.js";

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

describe("browser bundle", () => {
  it("brings no Node module, no ws and no schema library, and stays under 20 kB gzipped", async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [here("browser.ts")],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      conditions: ["agent-reach-source"],
      metafile: true,
      write: false,
    });
    const inputs = Object.keys(metafile.inputs);
    const builtins = builtinModules.filter((name) => inputs.includes(name) || inputs.includes(`node:${name}`));
    expect(builtins).toEqual([]);
    expect(inputs.filter((path) => path.includes("node_modules") || path.includes("/node/"))).toEqual([]);
    expect(inputs.filter((path) => path.endsWith("schemas.ts"))).toEqual([]);
    const bytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
    console.log(`browser bundle: ${bytes} bytes gzipped`);
    expect(bytes).toBeLessThan(20_000);
  });

  it("names the version of its package in hello", () => {
    expect(sdkVersion).toBe(JSON.parse(readFileSync(here("../package.json"), "utf8")).version);
  });
});
