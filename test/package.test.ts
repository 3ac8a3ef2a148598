import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "./kit/sources.js";
import { gate, within } from "./kit/within.js";

const run = promisify(execFile);
const patienceMs = 240_000;
const packages = [
  "agent-reach",
  "agent-reach-embedder-static",
  "agent-reach-protocol",
  "agent-reach-sdk",
  "agent-reach-server",
];

describe("the packages, as they would be published", () => {
  let folder: string;
  let tarballs: string[];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "agent-reach-package-"));
    const packed = join(folder, "packed");
    mkdirSync(packed);
    await run("npm", ["pack", "--workspaces", "--pack-destination", packed], { cwd: root });
    tarballs = readdirSync(packed).map((name) => join(packed, name));
  }, patienceMs);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("contain what runs and its types, and neither tests nor sources", async () => {
    expect(tarballs.map((path) => path.replace(/^.*[/\\]|-\d+\.\d+\.\d+\.tgz$/g, "")).sort()).toEqual(packages);
    for (const tarball of tarballs) {
      const { stdout } = await run("tar", ["-tzf", tarball]);
      const files = stdout
        .trim()
        .split("\n")
        .map((path) => path.replace(/^package\//, ""));
      const strange = files.filter(
        (path) =>
          !/^(package\.json|LICENSE|NOTICE|README\.md|data\/[\w-]+\.(bin|txt)|bin\/[\w-]+\.js|dist\/.+(\.js|\.d\.ts))$/.test(
            path,
          ),
      );
      expect(strange, tarball).toEqual([]);
      expect(
        files.filter((path) => /\.test\.|conformance|\/testing\//.test(path)),
        tarball,
      ).toEqual([]);
      expect(
        files.some((path) => path.startsWith("dist/")),
        tarball,
      ).toBe(true);
      expect(files, tarball).toEqual(expect.arrayContaining(["README.md", "LICENSE"]));
    }
  });

  test("install into an empty folder, where npx starts a node and the SDK is imported", {
    timeout: patienceMs,
  }, async () => {
    const place = join(folder, "place");
    mkdirSync(place);
    writeFileSync(join(place, "package.json"), '{ "private": true, "type": "module" }\n');
    await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs], { cwd: place });

    // In a process group of its own: npx has children, and Ctrl-C reaches them all.
    const node = spawn("npx", ["agent-reach", "serve", "--port", "0", "--data", "data"], {
      cwd: place,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const url = gate<string>();
    const closed = gate<number | null>();
    let said = "";
    const hear = (chunk: Buffer) => {
      said += String(chunk);
      const found = /ws:\/\/127\.0\.0\.1:\d+\/registry/.exec(said);
      if (found !== null) url.open(found[0]);
    };
    node.stdout.on("data", hear);
    node.stderr.on("data", hear);
    node.once("close", closed.open);
    try {
      const registryUrl = await within(url.opened, `the node to say where it is; it said: ${said}`, 60_000);
      const program = `
        import { AgentReachClient } from "agent-reach/sdk";
        const registryUrl = ${JSON.stringify(registryUrl)};
        const agent = new AgentReachClient({ registryUrl });
        agent.register({ agentId: "a", capabilities: [{ name: "double", idempotent: true }] });
        agent.onCapability("double", (n) => 2 * n);
        await agent.start();
        const caller = new AgentReachClient({ registryUrl });
        console.log((await caller.callSync({ capability: "double", input: 21 })).orThrow());
        await caller.close();
        await agent.close();
      `;
      writeFileSync(join(place, "use.js"), program);
      const { stdout } = await run(process.execPath, ["use.js"], { cwd: place });
      expect(stdout.trim()).toBe("42");
      process.kill(-node.pid!, "SIGINT");
      await within(closed.opened, "the node to stop", 30_000);
      expect(said).not.toContain("rror");
    } finally {
      if (node.exitCode === null && node.signalCode === null) process.kill(-node.pid!, "SIGKILL");
    }
  });
});
