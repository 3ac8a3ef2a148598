import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { cardOf, completed, failed, SocketAgent } from "../kit/agents.js";
import { freePort, useNode } from "../kit/node.js";
import type { Json } from "../kit/wire.js";
import { within } from "../kit/within.js";

const program = fileURLToPath(new URL("../../packages/cli/bin/agent-reach.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "agent-reach-cli-"));
const started = new Set<ChildProcess>();

afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Starts `agent-reach` as a user does. */
function start(
  args: string[],
  env: Record<string, string> = {},
): { child: ChildProcess; ended: Promise<Ended>; line: (part: string) => Promise<string> } {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  started.add(child);
  let out = "";
  let err = "";
  const waiting: { part: string; resolve: (line: string) => void }[] = [];
  const look = () => {
    for (const each of [...waiting]) {
      const line = out.split("\n").find((candidate) => candidate.includes(each.part));
      if (line === undefined) continue;
      waiting.splice(waiting.indexOf(each), 1);
      each.resolve(line);
    }
  };
  child.stdout?.on("data", (chunk) => {
    out += chunk;
    look();
  });
  child.stderr?.on("data", (chunk) => {
    err += chunk;
  });
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, out, err })));
  ended.then(() => started.delete(child));
  const line = (part: string) =>
    within(
      new Promise<string>((resolve) => {
        waiting.push({ part, resolve });
        look();
      }),
      `a line with ${JSON.stringify(part)}`,
      15_000,
    );
  return { child, ended, line };
}

const node = useNode();

/** A command against the node, with its words and then its input on standard input. */
async function cli(args: string[], stdin = ""): Promise<Ended> {
  const { child, ended } = start([...args, "--url", `http://127.0.0.1:${node().port}`]);
  child.stdin?.end(stdin);
  return within(ended, `agent-reach ${args.join(" ")} to end`, 15_000);
}

const json = ({ out }: Ended): Json => JSON.parse(out);

// Each step of these tests is a process of its own, which takes its time on a busy machine.
const patient = { timeout: 90_000 };

describe("agent-reach against a node", patient, () => {
  it("calls: the input arrives and the data comes back to the digit", async () => {
    const agent = await SocketAgent.join(node().url);
    const { code, out } = await cli(["call", agent.capability, "-"], '{"id": 9007199254740993, "price": 1.10}');
    expect((await agent.next()).text).toContain("9007199254740993");
    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(out))).toEqual(["id", "price"]);
  });

  it("shows the same message by why, trace and why-not", async () => {
    const agent = await SocketAgent.join(node().url);
    const called = json(await cli(["call", agent.capability, "{}", "--json"]));
    const why = await cli(["why", called.messageId]);
    expect(why.out).toContain(`${agent.agentId} (${agent.instanceId.slice(-8)}) was chosen for ${agent.capability}`);
    const trace = await cli(["trace", called.traceId]);
    expect(trace.out).toContain(agent.agentId);
    expect((await cli(["trace", called.messageId])).out).toBe(trace.out);
    expect((await cli(["why-not", agent.agentId, called.messageId])).out).toContain("was chosen");
    expect((await cli(["why-not", agent.agentId, agent.capability])).out).toContain("would get");
  });

  it("lists agents, shows one, and discovers", async () => {
    const agent = await SocketAgent.join(node().url);
    expect((await cli(["agents", "--capability", agent.capability])).out).toMatch(
      new RegExp(`${agent.agentId} +online +1`),
    );
    expect((await cli(["agent", agent.agentId])).out).toContain(agent.instanceId);
    expect(json(await cli(["discover", agent.capability, "--json"])).verdict).toBe("match");
    expect((await cli(["discover", agent.capability, "--explain"])).out).toContain("RUNNING/QUEUED");
  });

  it("submits, waits, and finds the task again", async () => {
    const agent = await SocketAgent.join(node().url, cardOf(), () => completed({ shipped: true }));
    const submitted = await cli(["submit", agent.capability, "{}", "--group", "friday", "--wait", "10s"]);
    expect(submitted).toMatchObject({ code: 0, out: '{\n  "shipped": true\n}\n' });
    const id = (await cli(["submit", agent.capability, "{}", "--group", "friday"])).out.trim();
    expect(await cli(["task", id, "--wait", "10s"])).toMatchObject({ code: 0 });
    expect((await cli(["task", id, "--events"])).out).toContain("EVENT");
    expect(json(await cli(["tasks", "--group", "friday", "--json"])).tasks).toHaveLength(2);
  });

  it("cancels a task that waits, and tells that by the exit code", async () => {
    const agent = await SocketAgent.join(node().url);
    await agent.deregister();
    const id = (await cli(["submit", agent.capability])).out.trim();
    expect((await cli(["queues"])).out).toContain(agent.capability);
    expect((await cli(["task", id, "--cancel", "--reason", "ordered twice"])).out).toContain("canceled");
    expect((await cli(["task", id, "--wait"])).code).toBe(1);
  });

  it("lists a failed task as a dead letter, requeues it and discards another", async () => {
    let broken = true;
    const agent = await SocketAgent.join(node().url, cardOf(), () =>
      broken ? failed("OUT_OF_STOCK") : completed("ok"),
    );
    const first = await cli(["submit", agent.capability, "{}", "--wait", "--json"]);
    expect(first.code).toBe(1);
    const id = json(first).messageId;
    expect((await cli(["dead", "list", "--capability", agent.capability])).out).toContain("OUT_OF_STOCK");
    expect((await cli(["dead", "show", id])).out).toContain("OUT_OF_STOCK");
    broken = false;
    expect(json(await cli(["dead", "requeue", id, "--json"]))).toMatchObject({ requeued: 1 });
    expect(await cli(["task", id, "--wait"])).toMatchObject({ code: 0 });
    broken = true;
    const second = json(await cli(["submit", agent.capability, "{}", "--wait", "--json"])).messageId;
    expect(json(await cli(["dead", "discard", second, "--json"]))).toMatchObject({ discarded: 1 });
    expect(json(await cli(["dead", "list", "--capability", agent.capability, "--json"])).tasks).toEqual([]);
  });

  it("watches: events come as they happen, one line each", async () => {
    const url = `http://127.0.0.1:${node().port}`;
    const watching = start(["watch", "--json", "--url", url]);
    // What happens before the stream is open would be missed, so agents come until one is seen.
    const agentIds: string[] = [];
    const seen = watching.line("agent-");
    for (let done = false; !done; ) {
      agentIds.push((await SocketAgent.join(node().url)).agentId);
      done = await within(seen, "an event", 500).then(
        () => true,
        () => false,
      );
    }
    expect(agentIds).toContain(JSON.parse(await seen).agentId);
    watching.child.kill("SIGINT");
    expect((await within(watching.ended, "watch to end")).code).toBe(0);
  });

  it("says by its exit code what went wrong", async () => {
    const agent = await SocketAgent.join(node().url, cardOf(), () => failed("NO_SUCH_ORDER", "there is no such order"));
    const refused = await cli(["call", agent.capability]);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain("there is no such order");
    expect((await cli(["call", "nobody_offers_this"])).code).toBe(4);
    expect((await cli(["task", "0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42"])).code).toBe(4);
    expect((await cli(["discover", "nobody_offers_this"])).code).toBe(4);
    const silent = await SocketAgent.join(node().url, cardOf(), () => ({ status: "accepted" }));
    expect((await cli(["call", silent.capability, "{}", "--timeout", "300ms"])).code).toBe(5);
  });
});

describe("agent-reach serve", patient, () => {
  it("S02: makes its data directory, says where it listens, and ends with 0 on SIGTERM", async () => {
    const port = await freePort();
    const data = join(home, "deep", "data");
    const serving = start(["serve", "--port", String(port), "--data", data, "--log-level", "warn"]);
    expect(await serving.line("ws://")).toContain(`ws://127.0.0.1:${port}/registry`);
    expect(await serving.line("data ")).toContain(data);
    expect(existsSync(data)).toBe(true);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    serving.child.kill("SIGTERM");
    expect(await within(serving.ended, "serve to end")).toMatchObject({ code: 0 });
  });

  it("CLU-6: takes a file, the environment and flags", async () => {
    const file = join(home, "reach.yaml");
    writeFileSync(file, "server: { port: 1 }\ndata: { engine: memory }\nnode: { id: from-file }\n");
    const port = await freePort();
    const env = { AGENT_REACH_CONFIG: file, AGENT_REACH_SERVER_PORT: "2", AGENT_REACH_LOG_LEVEL: "warn" };
    const serving = start(["serve", "--port", String(port), "--json"], env);
    const said = JSON.parse(await serving.line("listening"));
    expect(said).toMatchObject({ port, nodeId: "from-file", dataDir: null });
    serving.child.kill("SIGINT");
    expect(await within(serving.ended, "serve to end")).toMatchObject({ code: 0 });
  });

  it.each([
    ["a wrong setting", () => ["serve", "--lease-ttl-sec", "5"], 2, "lease.ttlSec"],
    ["SEC-1: an address that others can reach", () => ["serve", "--host", "0.0.0.0"], 2, "--insecure"],
    [
      "a port that is taken",
      () => ["serve", "--port", String(node().port), "--data", join(home, "other")],
      1,
      "--port",
    ],
    ["a data directory that another node uses", () => ["serve", "--port", "0", "--data", node().dataDir], 1, "data"],
    ["a data directory that cannot be", () => ["serve", "--port", "0", "--data", join(program, "data")], 1, "--data"],
  ])("refuses %s, with the remedy", async (_case, args, exit, part) => {
    const { code, err, out } = await within(start(args()).ended, "serve to refuse", 15_000);
    expect(err).toContain(part);
    expect(err).not.toMatch(/^\s+at /m);
    expect(out).toBe("");
    expect(code).toBe(exit);
  });

  it("does not mind a reader that closes the pipe", async () => {
    const shell = spawn("sh", [
      "-c",
      `"${process.execPath}" "${program}" --help | head -1; "${process.execPath}" "${program}" version`,
    ]);
    let out = "";
    let err = "";
    shell.stdout.on("data", (chunk) => {
      out += chunk;
    });
    shell.stderr.on("data", (chunk) => {
      err += chunk;
    });
    await within(new Promise((resolve) => shell.once("close", resolve)), "the pipe to end");
    expect(out).toContain("Usage: agent-reach");
    expect(out).toContain("protocol 1");
    expect(err).toBe("");
  });
});
