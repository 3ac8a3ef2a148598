import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { delimiter, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { useNode } from "./kit/node.js";
import { within } from "./kit/within.js";

const folder = fileURLToPath(new URL("../examples", import.meta.url));
const programs = readdirSync(folder).filter((name) => ![".md", ".yaml"].includes(extname(name)));
const python = (process.env["PATH"] ?? "")
  .split(delimiter)
  .some((directory) => readdirIfThere(directory).includes("python3"));

function readdirIfThere(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

describe("EDGE-5: the examples run and check themselves", () => {
  const node = useNode();

  test("there is one for each way to be connected", () => {
    expect(programs.sort()).toEqual(["bare-websocket.mjs", "http-pull.py", "http-webhook.mjs", "sdk-agent.mjs"]);
  });

  // A machine without Python is no reason to fail; everything the Python example does is tested elsewhere too.
  test.each(programs.filter((name) => extname(name) !== ".py" || python))("%s says ok", async (name) => {
    const command = extname(name) === ".py" ? "python3" : process.execPath;
    const child = spawn(command, [join(folder, name), node().http.baseUrl], { stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    try {
      const code = await within(
        new Promise((resolve, reject) => {
          child.once("error", reject);
          child.once("close", resolve);
        }),
        `${name} to end; it said ${out}${err}`,
        18_000,
      );
      expect({ code, out, err }).toEqual({ code: 0, out: expect.stringMatching(/^ok: .+\n$/), err: "" });
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("they leave nothing behind: each says goodbye", async () => {
    const { body } = await node().http.get("/v1/agents?state=online");
    expect(body.agents).toEqual([]);
  });
});
