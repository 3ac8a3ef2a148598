// `npm test`: builds, checks what can be stale, and runs every test. The last line is `N passed, N failed, N skipped`; a check
// that fails counts as a failed test. With paths (`npm test -- packages/sdk`) it builds and runs those tests alone.
// --demo runs the demo as well.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const inCi = process.env.CI !== undefined && process.env.CI !== "" && process.env.CI !== "false";
const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: { demo: { type: "boolean", default: false } },
});
const closingLine = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;
const failures = [];

if (!existsSync(`${root}node_modules/vitest`)) end(0, 0, ["dependencies: node_modules is missing; run `npm ci` first"]);
if (!node("scripts/build.mjs")) end(0, 0, ["build: the code does not compile; see above"]);
if (paths.length === 0) {
  lookForTools();
  check("types of the tests", bin("typescript", "bin/tsc"), "-p", "test");
  check("spec", "scripts/emit.mjs", "--check");
  check("reference", "scripts/reference.mjs", "--check");
  check("errors", "scripts/errors-page.mjs", "--check");
  check("style", bin("@biomejs/biome", "bin/biome"), "check", "--diagnostic-level=warn", ".");
  if (options.demo) check("demo", "packages/cli/bin/agent-reach.js", "demo");
}
const { passed, failed, skipped, status } = await tests();
if (status !== 0 && failed === 0) failures.push(`vitest ended with ${status}; see above`);
end(passed, failed, failures, skipped);

/** What some tests need besides Node, and where to get it. Missing, it is a failure in CI and a note elsewhere. */
function lookForTools() {
  const needed = [
    ["python3", ["--version"], "the Python programs of the guide", "install python3 (Debian: apt-get install python3)"],
    ["curl", ["--version"], "the curl examples of the guide", "install curl (Debian: apt-get install curl)"],
    ["bash", ["--version"], "the examples of the guide", "install bash (Debian: apt-get install bash)"],
  ];
  for (const [command, args, what, remedy] of needed) {
    if (spawnSync(command, args, { stdio: "ignore" }).status === 0) continue;
    const text = `${command} is missing, which is needed for ${what}: ${remedy}`;
    if (inCi) failures.push(text);
    else console.error(`\nnote: ${text}`);
  }
  const rootless = process.platform !== "linux" || process.getuid?.() !== 0;
  if (rootless && !inCi)
    console.error(
      "\nnote: test/fault/disk.test.ts fills a small disk, which takes Linux, root and CAP_SYS_ADMIN (a tmpfs mount)",
    );
}

function check(name, ...command) {
  console.log(`\n── ${name}`);
  if (!node(...command)) failures.push(`${name}: see above`);
}

function node(...command) {
  return spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" }).status === 0;
}

/** The program of an installed package, for any system: what lies in .bin is a shell script on some. */
function bin(name, path) {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return fileURLToPath(new URL(path, `file://${manifest}`));
}

/** Runs vitest, and keeps its closing line for the end. */
function tests() {
  console.log("\n── tests");
  const env = { ...process.env, ...(process.stdout.isTTY && !process.env.NO_COLOR ? { FORCE_COLOR: "1" } : {}) };
  const child = spawn(process.execPath, [bin("vitest", "vitest.mjs"), "run", ...paths], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let rest = "";
  const counted = { passed: 0, failed: 0, skipped: 0 };
  const line = (text) => {
    const match = closingLine.exec(text.trim());
    if (match === null) return console.log(text);
    [counted.passed, counted.failed, counted.skipped] = match.slice(1).map(Number);
  };
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    lines.forEach(line);
  });
  return new Promise((resolve) => {
    child.once("close", (status, signal) => {
      if (rest !== "") line(rest);
      resolve({ ...counted, status: status ?? signal });
    });
  });
}

function end(passed, failed, problems, skipped = 0) {
  for (const problem of problems) console.error(`failed: ${problem}`);
  const all = failed + problems.length;
  console.log(`\n${passed} passed, ${all} failed, ${skipped} skipped`);
  process.exit(all === 0 ? 0 : 1);
}
