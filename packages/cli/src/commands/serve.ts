import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { ReachError } from "@agent-reach/protocol";
import type { Config } from "@agent-reach/server/config";
import type { Command } from "commander";
import type { Context } from "../context.js";

export async function define(command: Command, context: (command: Command) => Context): Promise<void> {
  const { addSettingFlags, loadSettings } = await import("../settings-flags.js");
  addSettingFlags(command)
    .addHelpText(
      "after",
      `
It needs no file. Each setting can stand in a file (--config), in the environment (AGENT_REACH_LEASE_TTL_SEC) or here;
the later of these wins. SIGTERM or Ctrl-C drains the node: work in hand ends, tasks stay on disk.

Examples:
  $ agent-reach serve
  $ agent-reach serve --port 9000 --data /var/lib/agent-reach
  $ agent-reach serve --config reach.yaml --log-level debug`,
    )
    .action(async (options: Record<string, unknown>) => {
      const here = context(command);
      const { config, warnings } = loadSettings(options, here.io);
      for (const warning of warnings)
        here.io.err(`${here.json ? "warning:" : here.paint.doubt("warning:")} ${warning}\n`);
      await serve(here, config);
    });
}

async function serve(here: Context, config: Config): Promise<void> {
  makeDataDir(config);
  // V8 would guess at some point of heavy load that messages grow old, and from then on put parts of each where young
  // collections never look, which keep the rest of it alive (ADR 10).
  setFlagsFromString("--no-allocation-site-pretenuring");
  const { startNode } = await import("@agent-reach/server");
  const node = await startNode(config).catch((error: unknown) => {
    throw explain(error, config);
  });
  const dir = config.data.engine === "memory" ? undefined : resolve(config.data.dir);
  const { nodeId, url, httpUrl, port } = node;
  here.print({ event: "listening", nodeId, url, httpUrl, port, dataDir: dir ?? null, pid: process.pid }, () =>
    banner(here, { nodeId, url, httpUrl, dir }),
  );
  await signalled(here);
  here.remark(here.paint.dim("draining: no new work, what runs may end; press Ctrl-C again to stop at once"));
  try {
    await node.drain();
  } finally {
    await node.close();
  }
}

function banner(
  { paint }: Context,
  node: { nodeId: string; url: string; httpUrl: string; dir: string | undefined },
): string {
  const other = node.httpUrl === "http://127.0.0.1:8800" ? "" : ` --url ${node.httpUrl}`;
  return (
    `Agent-Reach ${node.nodeId} is ready\n` +
    `  agents connect to  ${paint.name(node.url)}\n` +
    `  HTTP API           ${paint.name(node.httpUrl)}\n` +
    `  data               ${node.dir ?? "in memory only: gone when the node stops"}\n\n` +
    "Try in another terminal:\n" +
    `  agent-reach agents${other}\n` +
    `  agent-reach watch${other}\n` +
    `  curl ${node.httpUrl}/readyz\n`
  );
}

function makeDataDir({ data }: Config): void {
  if (data.engine === "memory") return;
  try {
    mkdirSync(data.dir, { recursive: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new ReachError(
      "NOT_READY",
      `the data directory ${resolve(data.dir)} cannot be made (${code}); name one that may be written with --data`,
      { cause: error },
    );
  }
}

/** What the operating system says of a port, in words, with what to do. Other errors already are in words. */
function explain(error: unknown, { server, data }: Config): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  const where = `${server.host}:${server.port}`;
  switch (code) {
    case "EADDRINUSE":
      return new ReachError(
        "NOT_READY",
        `port ${server.port} on ${server.host} is taken, perhaps by another node; stop that, or take another port with --port (0: any free one)`,
        { cause: error },
      );
    case "EACCES":
      return (error as NodeJS.ErrnoException).syscall === "listen"
        ? new ReachError(
            "NOT_READY",
            `listening on ${where} is not permitted; ports under 1024 need rights, take a higher one with --port`,
            { cause: error },
          )
        : new ReachError(
            "NOT_READY",
            `no permission to write in ${resolve(data.dir)}; name another directory with --data`,
            { cause: error },
          );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ReachError(
        "NOT_READY",
        `this machine has no address ${server.host}; name one of its own with --host, or 127.0.0.1`,
        { cause: error },
      );
    default:
      return error;
  }
}

function signalled({ io }: Context): Promise<void> {
  return new Promise((done) => {
    if (io.signal.aborted) done();
    else io.signal.addEventListener("abort", () => done(), { once: true });
  });
}
