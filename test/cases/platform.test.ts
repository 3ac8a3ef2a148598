import { type ChildProcess, spawn } from "node:child_process";
import { lookup } from "node:dns/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { AgentReachClient } from "@agent-reach/sdk";
import { defaultConfig, startNode } from "@agent-reach/server";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { cardOf } from "../kit/agents.js";
import { Http } from "../kit/http.js";
import { Mailbox } from "../kit/mailbox.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import { eventually } from "../kit/within.js";

/** Area W of the cases: names and addresses of this machine, processes beside each other, and what a runtime does. */
const node = useNode({ settings: { webhook: { allowPrivate: false } } });
const { bare } = usePeers(node);
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** A program on the SDK as users install it. What it prints are lines. */
function run(source: string, args: string[] = [], flags: string[] = []) {
  const child = spawn(process.execPath, [...flags, "--input-type=module", "-e", source, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const lines = new Mailbox<string>();
  createInterface({ input: child.stdout! }).on("line", (line) => lines.put(line));
  const said = (word: string) => lines.next(`"${word}" of the program`, (line) => line.startsWith(word), 15_000);
  return { child, said };
}

describe("W01: localhost, 127.0.0.1 and ::1", () => {
  /** Calls over the SDK and over HTTP, by this name of the machine. */
  const works = async (host: string, port: number): Promise<void> => {
    const client = new AgentReachClient({ registryUrl: `ws://${host}:${port}`, logger: quiet });
    onTestFinished(() => client.close());
    await client.connect({ timeoutMs: 5_000 });
    expect((await client.discover({ capability: "none" })).verdict).toBe("no_match");
    expect((await new Http(`http://${host}:${port}`).get("/readyz")).status).toBe(200);
  };

  test("W01: a node on 127.0.0.1 is reached by either name", async () => {
    for (const host of ["127.0.0.1", "localhost"]) await works(host, node().port);
  });

  const v6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
  test.skipIf(!v6)(
    "W01: a node on ::1 is reached in brackets, and by localhost where that is its name, and says its address with them",
    async () => {
      const config = defaultConfig();
      config.server = { ...config.server, host: "::1", port: 0 };
      config.data = { ...config.data, engine: "memory" };
      config.log = { ...config.log, level: "silent" };
      const six = await startNode(config);
      onTestFinished(() => six.close());
      expect(six.url).toBe(`ws://[::1]:${six.port}/registry`);
      // Some machines have only one address under the name.
      const named = (await lookup("localhost", { all: true })).some(({ address }) => address === "::1");
      for (const host of named ? ["[::1]", "localhost"] : ["[::1]"]) await works(host, six.port);
    },
  );

  test("W01: an endpoint in brackets is read as what it is, loopback and mapped addresses too", async () => {
    const wire = await bare();
    for (const host of ["[::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[fe80::1]", "[fd00::1]", "2130706433"]) {
      const card = cardOf({ transport: { type: "http", endpoint: `http://${host}:9000/hook` } });
      expect(await wire.refused("register", { card }), host).toMatchObject({
        code: "INVALID_CARD",
        data: { path: "transport.endpoint" },
      });
    }
    const card = cardOf({ transport: { type: "http", endpoint: "http://[2001:db8::1]:9000/hook" } });
    expect((await node().http.post("/v1/agents", { card })).status).toBe(200);
  });

  test("W01: a Host header in brackets is this machine, and one that maps elsewhere is not", async () => {
    const { port } = node();
    const status = async (host: string) => (await node().http.get("/v1/agents", { headers: { host } })).status;
    expect(await status(`[::1]:${port}`)).toBe(200);
    for (const host of [`[::2]:${port}`, "[::ffff:10.0.0.1]", "::1.evil.example"]) expect(await status(host)).toBe(403);
  });
});

const agent = `
  import { AgentReachClient } from "@agent-reach/sdk";
  const [registryUrl, agentId, stateFile] = process.argv.slice(1);
  const client = new AgentReachClient({ registryUrl, ...(stateFile && { stateFile }) });
  await client.register({ agentId, capabilities: [{ name: agentId + "_pid" }], heartbeatIntervalSec: 1 });
  client.onCapability(agentId + "_pid", () => process.pid);
  client.on("state", ({ state }) => console.log("state " + state));
  const { instanceId } = await client.start();
  console.log("up " + instanceId);`;

describe("W03: a process and its child", () => {
  test("W03: are two instances, also with one identity file; both serve, and the end of the child leaves the parent be", async () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-reach-fork-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const parent = run(
      `${agent}
      import { fork } from "node:child_process";
      import { writeFileSync } from "node:fs";
      writeFileSync(stateFile + ".mjs", process.env.CHILD);
      process.stdin.once("data", () => {
        const child = fork(stateFile + ".mjs", process.argv.slice(1), { execArgv: [] });
        process.stdin.once("data", () => child.kill("SIGKILL"));
        child.once("exit", () => console.log("ended"));
      });`.replace(
        "process.env.CHILD",
        JSON.stringify(
          agent
            .replace("process.argv.slice(1)", "process.argv.slice(2)")
            .replace(
              '"@agent-reach/sdk"',
              JSON.stringify(new URL("../../packages/sdk/dist/node.js", import.meta.url).href),
            ),
        ),
      ),
      [node().url, "forked", join(folder, "agent.json")],
    );
    const first = (await parent.said("up ")).slice(3);
    const wire = await bare();
    await wire.request("watch", { agentId: "forked" });
    parent.child.stdin!.write("fork\n");
    const second = (await parent.said("up ")).slice(3);
    expect(second).not.toBe(first);
    const pidOf = async (instanceId: string): Promise<number> =>
      (await wire.request("call", { target: { instanceId }, capability: "forked_pid", input: {} })).data;
    const pids = [await pidOf(first), await pidOf(second)];
    expect(pids[0]).toBe(parent.child.pid);
    expect(pids[1]).not.toBe(pids[0]);
    parent.child.stdin!.write("end\n");
    await wire.waitFor("instance.suspect", (e) => e.instanceId === second);
    expect(await pidOf(first)).toBe(parent.child.pid);
    const of = (e: { params: { instanceId?: string; type: string } }) => e.params.instanceId === first;
    expect(wire.notifications.untaken.filter(of).map(({ params }) => params.type)).toEqual([]);
  }, 40_000);
});

describe("W05: what nobody holds on to", () => {
  test("W05: an agent whose client is out of reach of its program lives on under the garbage collector", async () => {
    const wire = await bare();
    await wire.request("watch", { agentId: "unheld" });
    const { said } = run(
      `import { AgentReachClient } from "@agent-reach/sdk";
      await (async () => {
        const client = new AgentReachClient({ registryUrl: process.argv[1] });
        await client.register({ agentId: "unheld", capabilities: ["unheld"], heartbeatIntervalSec: 0.5 });
        client.onCapability("unheld", async (input) => {
          await new Promise((done) => setTimeout(done, 50));
          return input;
        });
        await client.start();
      })();
      setInterval(() => gc(), 5);
      console.log("up");`,
      [node().url],
      ["--expose-gc"],
    );
    await said("up");
    const heard = new Set<string>();
    await eventually(
      async () => {
        expect((await wire.request("call", { capability: "unheld", input: heard.size })).data).toBe(heard.size);
        const { instances } = await wire.request("agents.get", { agentId: "unheld" });
        heard.add(instances[0].lastHeartbeatAt);
        return heard.size;
      },
      (beats) => beats >= 5,
      "five heartbeats",
      15_000,
    );
    const gone = wire.notifications.untaken.filter(({ params }) => /suspect|offline/.test(params.type));
    expect(gone).toEqual([]);
  }, 40_000);
});

describe("W06: a handler that blocks the loop which its heartbeats need", () => {
  test("W06: is seen as suspect and gets no new work, comes back as it was, and its work is done once", async () => {
    const wire = await bare();
    await wire.request("watch", { agentId: "blocked" });
    const { said } = run(
      `import { AgentReachClient } from "@agent-reach/sdk";
      const client = new AgentReachClient({ registryUrl: process.argv[1], ackAfterMs: 1 });
      await client.register({ agentId: "blocked", capabilities: ["blocked"], heartbeatIntervalSec: 1 });
      client.onCapability("blocked", async (ms) => {
        console.log("run");
        await new Promise((done) => setTimeout(done, 50));
        const until = performance.now() + ms;
        while (performance.now() < until);
        return ms;
      });
      await client.start();
      console.log("up");`,
      [node().url],
    );
    await said("up");
    const { messageId } = await wire.request("submit", { capability: "blocked", input: 4_000 });
    await said("run");
    const suspect = await wire.waitFor("instance.suspect", () => true, 10_000);
    const found = await wire.request("discover", { capability: "blocked" });
    expect(found).toMatchObject({ verdict: "unavailable", candidates: [] });
    const back = await wire.waitFor("instance.online", (e) => e.revision > suspect.revision, 10_000);
    expect(back.instanceId).toBe(suspect.instanceId);
    expect(await wire.request("task.result", { messageId, waitMs: 8_000 }, 10_000)).toMatchObject({
      state: "completed",
      attempt: 1,
      data: 4_000,
    });
  }, 40_000);
});
