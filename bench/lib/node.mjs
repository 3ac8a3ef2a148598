// The product, started as a user starts it: `agent-reach serve --port N --data DIR`, on its defaults.
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { scratch, startProgram } from "./processes.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = join(root, "packages/cli/bin/agent-reach.js");
const readyWithinMs = 20_000;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function isReady(httpUrl) {
  return fetch(`${httpUrl}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
}

/** `nodeOptions` are flags for the Node runtime itself, like `--cpu-prof`; `args` are settings, where not the defaults. */
export async function startNode({ nodeOptions = [], args: settings = [] } = {}) {
  if (!existsSync(join(root, "packages/cli/dist/main.js"))) {
    throw new Error("the product is not built: run `npm run build` first");
  }
  const dir = scratch();
  const port = await freePort();
  const logFile = join(dir, "node.log");
  const log = () => readFileSync(logFile, "utf8");
  const args = [...nodeOptions, program, "serve", "--port", String(port), "--data", join(dir, "data"), ...settings];
  const httpUrl = `http://127.0.0.1:${port}`;
  let child;

  /** Again on the same port and data, if it was ended. */
  async function start() {
    const output = openSync(logFile, "a");
    child = startProgram(args, { output });
    closeSync(output);
    let gone = false;
    child.gone.then(() => {
      gone = true;
    });
    const startedAt = performance.now();
    while (!(await isReady(httpUrl))) {
      if (gone || performance.now() - startedAt > readyWithinMs) {
        await child.stop();
        throw new Error(`the node did not become ready; its log says:\n${log().slice(-2_000)}`);
      }
      await wait(20);
    }
  }

  await start();
  return {
    get pid() {
      return child.pid;
    },
    url: `ws://127.0.0.1:${port}/registry`,
    httpUrl,
    log,
    start,
    stop: () => child.stop(),
    /** Ends it as a crash does. */
    async kill() {
      process.kill(child.pid, "SIGKILL");
      await child.gone;
    },
  };
}
