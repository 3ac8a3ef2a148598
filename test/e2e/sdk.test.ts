import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { AgentError, AgentReachClient, type Handler, type TaskHandle } from "@agent-reach/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { useNode } from "../kit/node.js";
import { gate, within } from "../kit/within.js";

const node = useNode();
const clients: AgentReachClient[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
function client(options: Partial<ConstructorParameters<typeof AgentReachClient>[0]> = {}): AgentReachClient {
  const made = new AgentReachClient({
    registryUrl: node().url,
    logger: quiet,
    reconnect: { minMs: 20, maxMs: 200 },
    ...options,
  });
  clients.push(made);
  return made;
}

let count = 0;
/** An agent with one capability of its own name, so that tests do not meet each other's. */
async function agent(handler: Handler, card: Record<string, unknown> = {}) {
  const capability = `sdk_test_${++count}`;
  const reached = client();
  await reached.register({
    agentId: `sdk-agent-${count}`,
    capabilities: [{ name: capability, idempotent: true }],
    ...card,
  });
  reached.onCapability(capability, handler);
  await reached.start();
  return { reached, capability };
}

describe("SDK against a node", () => {
  test("SDK-2, SDK-7: three lines to be reachable, one to call, and failures are values", async () => {
    const { capability } = await agent((input: { order_id: string }) => {
      if (input.order_id === "none") throw new AgentError("ORDER_NOT_FOUND", "no such order", { data: { tried: 1 } });
      return { status: "shipped", order: input.order_id };
    });
    const caller = client();
    const found = await caller.listOnlineAgentsByCapability(capability);
    expect(found).toHaveLength(1);
    const good = await caller.callSync({ capability, input: { order_id: "7" }, timeoutMs: 5_000 });
    expect(good).toMatchObject({ ok: true, data: { status: "shipped", order: "7" }, agentId: found[0]!.agentId });
    const bad = await caller.callSync({ capability, input: { order_id: "none" } });
    expect(bad).toMatchObject({ errorCode: "AGENT_ERROR", outcome: "executed", details: { code: "ORDER_NOT_FOUND" } });
    expect(await caller.callSync({ capability: "nobody_has_this" })).toMatchObject({
      errorCode: "NO_ROUTE",
      outcome: "not_executed",
    });
    expect(await caller.discover({ capability })).toMatchObject({ verdict: "match" });
  });

  test("SDK-1: one client registers and beats, discovers and watches, calls, submits and is told", async () => {
    const told = gate<unknown>();
    const { reached, capability } = await agent((input: { n: number }, { kind }) => ({ kind, twice: input.n * 2 }));
    const { agentId } = reached.registered!;
    const caller = client();
    const updated = gate<string>();
    const watch = await caller.watch(
      { agentId },
      (event) => event.type === "agent.updated" && updated.open(event.agentId),
    );
    await reached.register({ agentId, capabilities: [{ name: capability }], description: "changed" });
    expect(await within(updated.opened, "the watch to tell")).toBe(agentId);
    watch.close();
    reached.report({ health: 1 });
    const { candidates } = await caller.discover({ capability });
    expect(candidates.map((candidate) => candidate.agentId)).toEqual([agentId]);
    expect(await caller.callSync({ capability, input: { n: 1 } })).toMatchObject({ data: { kind: "call", twice: 2 } });
    caller.callAsync({ capability, input: { n: 2 } }).onResult(({ data }) => told.open(data));
    expect(await within(told.opened, "the callback")).toEqual({ kind: "call", twice: 4 });
    const task = caller.submit({ capability, input: { n: 3 } });
    expect(await within(task.result(), "the task")).toMatchObject({ data: { kind: "task", twice: 6 } });
  });

  test("SDK-3: a nested call keeps the trace and names its parent", async () => {
    const inner = await agent((_, { traceId, envelope }) => ({
      traceId,
      chain: envelope.chain?.length,
      parent: envelope.parentId,
    }));
    const outer = await agent(async (_, context) => {
      const nested = await context.call<Record<string, unknown>>({ capability: inner.capability, input: {} });
      return { own: context.traceId, messageId: context.messageId, nested: nested.orThrow() };
    });
    const { data, traceId } = await client().callSync<{
      own: string;
      messageId: string;
      nested: Record<string, unknown>;
    }>({ capability: outer.capability, input: {} });
    expect(data?.own).toBe(traceId);
    expect(data?.nested).toMatchObject({ traceId, parent: data?.messageId });
  });

  test("DLV-14: progress reaches the caller, and a cancel reaches the handler", async () => {
    const started = gate();
    const { capability } = await agent(async (_, context) => {
      context.progress({ percent: 50, message: "half" });
      await new Promise((_, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));
    });
    const handle = client()
      .callAsync({ capability, input: {}, timeoutMs: 8_000 })
      .onProgress(() => started.open());
    await within(started.opened, "progress");
    handle.cancel();
    expect(await within(handle.result, "the canceled call")).toMatchObject({ errorCode: "CANCELED" });
  });

  test("DLV-2: a task is accepted, done, and told; the same key again is a duplicate with the same result", async () => {
    let runs = 0;
    const { capability } = await agent(() => ++runs);
    const caller = client();
    const idempotencyKey = `key-${Date.now()}`;
    const first = caller.submit({ capability, input: { n: 1 }, idempotencyKey });
    expect(await first.accepted).toMatchObject({ ok: true, duplicate: false });
    expect(await within(first.result(), "the task")).toMatchObject({ state: "completed", data: 1 });
    const again = caller.submit({ capability, input: { n: 1 }, idempotencyKey });
    expect(await again.accepted).toMatchObject({ duplicate: true, messageId: first.messageId });
    expect(await within(again.result(), "the duplicate")).toMatchObject({ data: 1 });
    expect((await first.events()).events.length).toBeGreaterThan(1);
    expect(runs).toBe(1);
  });

  test("LIVE-9, DLV-11: everybody comes back after the node was killed, and what was under way ends once", async () => {
    const work = gate<number>();
    const running = gate();
    let runs = 0;
    const { reached, capability } = await agent(() => {
      runs++;
      running.open();
      return work.opened;
    });
    const task = client().submit<number>({ capability, input: {} });
    await task.accepted;
    await within(running.opened, "the handler");
    await node().restart();
    work.open(42);
    expect(await within(task.result(), "the result after the restart", 15_000)).toMatchObject({
      state: "completed",
      data: 42,
    });
    expect(runs).toBe(1);
    expect(reached.registered?.epoch).toBe(2);
    expect(await client().callSync({ capability, input: { again: true }, timeoutMs: 5_000 })).toMatchObject({
      data: 42,
    });
  });

  test("DLV-11: a call that was sent to a node which was killed is not executed again, and its caller is told so", async () => {
    const running = gate();
    const charged: number[] = [];
    const charger = () => {
      const made = client();
      made.register({ agentId: "sdk-agent-charge", capabilities: [{ name: "sdk_test_charge", idempotent: false }] });
      made.onCapability("sdk_test_charge", ({ cents, slow }: { cents: number; slow: boolean }) => {
        charged.push(cents);
        running.open();
        return slow ? new Promise(() => {}) : "charged";
      });
      return made;
    };
    const first = charger();
    await first.start();
    const caller = client();
    const charge = (cents: number, slow: boolean) =>
      caller.callSync({ capability: "sdk_test_charge", input: { cents, slow }, timeoutMs: 60_000 });
    const called = charge(500, true);
    await within(running.opened, "the handler");
    await node().kill();
    // The agent of before would know the message and not run it twice; another process of it knows nothing.
    await first.close();
    await node().start();
    await charger().start();
    const outcome = await within(called, "the caller to be told");
    expect(outcome).toMatchObject({ errorCode: "DELIVERY_TIMEOUT", outcome: "unknown", retryable: false });
    expect(outcome.errorMessage).toContain("idempotent");
    // This one comes after it over the same connection: had the first been repeated, it would have run by now.
    expect(await charge(1, false)).toMatchObject({ data: "charged" });
    expect(charged).toEqual([500, 1]);
  });

  test("LIVE-8: an agent that is drained in the middle of a batch loses nothing and runs nothing twice", async () => {
    const seen = new Map<string, number>();
    const handler = async (_: unknown, context: { idempotencyKey: string }) => {
      seen.set(context.idempotencyKey, (seen.get(context.idempotencyKey) ?? 0) + 1);
      await new Promise((resolve) => setImmediate(resolve));
      return context.idempotencyKey;
    };
    const { reached: first, capability } = await agent(handler, { maxConcurrentTasks: 4 });
    const card = {
      agentId: `sdk-agent-${count}`,
      capabilities: [{ name: capability, idempotent: true }],
      maxConcurrentTasks: 4,
    };
    const caller = client();
    const tasks: TaskHandle[] = [];
    for (let i = 0; i < 300; i++) tasks.push(caller.submit({ capability, input: i }));
    await within(tasks[20]!.result(), "the first of the batch");
    const second = client();
    await second.register(card);
    second.onCapability(capability, handler);
    await second.start();
    await within(first.drain(), "the drain");
    expect(first.state).toBe("closed");
    const outcomes = await within(Promise.all(tasks.map((task) => task.result())), "the batch", 18_000);
    expect(outcomes.filter(({ state }) => state !== "completed")).toEqual([]);
    expect(seen.size).toBe(300);
    expect([...seen.values()].filter((times) => times !== 1)).toEqual([]);
  });

  test("S02, LIVE-8: SIGTERM drains and then ends the process", async () => {
    const source = `
      import { AgentReachClient } from "@agent-reach/sdk";
      const client = new AgentReachClient({ registryUrl: process.argv[1] });
      await client.register({ agentId: "signal-agent", capabilities: ["sig"] });
      client.onCapability("sig", () => 1);
      client.drainOnSignals();
      await client.start();
      process.stdout.write("up");
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", source, node().url], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    await within(once(child.stdout!, "data"), "the agent to start");
    expect(await client().callSync({ capability: "sig" })).toMatchObject({ data: 1 });
    const offline = gate();
    await client().watch({ agentId: "signal-agent" }, ({ type }) => type === "instance.offline" && offline.open());
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await within(ended, "the process to end")).toEqual([null, "SIGTERM"]);
    await within(offline.opened, "the goodbye");
  });

  test("a script that only calls ends by itself, without close", async () => {
    const { capability } = await agent(() => "pong");
    const source = `
      import { AgentReachClient } from "@agent-reach/sdk";
      const client = new AgentReachClient({ registryUrl: process.argv[1] });
      const { data } = await client.callSync({ capability: process.argv[2] });
      process.stdout.write(data);
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", source, node().url, capability], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    const [said] = await within(once(child.stdout!, "data"), "the answer");
    expect(String(said)).toBe("pong");
    expect(await within(once(child, "exit"), "the script to end")).toEqual([0, null]);
  });

  test("REG-2: an instance that was taken over stays away", async () => {
    const { reached, capability } = await agent(() => "old");
    const { instanceId, instanceKey, agentId } = reached.registered!;
    const away = new Promise<void>((resolve) =>
      reached.on("state", ({ state }) => state === "superseded" && resolve()),
    );
    const { Wire } = await import("../kit/wire.js");
    const thief = await Wire.open(node().url);
    await thief.request("register", {
      card: { agentId, capabilities: [{ name: capability }] },
      instanceId,
      instanceKey,
    });
    await within(away, "4001");
    expect(await reached.callSync({ capability })).toMatchObject({ errorCode: "UNAVAILABLE", retryable: false });
    thief.cut();
  });

  test("REG-6: a watch goes on over a restart of the node", async () => {
    const { reached } = await agent(() => 1);
    const agentId = reached.registered!.agentId;
    const seen: string[] = [];
    let changed = gate();
    let back = gate();
    await client().watch({ agentId }, ({ type }) => {
      seen.push(type);
      if (type === "agent.updated") changed.open();
      if (type === "instance.online" || type === "relisted") back.open();
    });
    await reached.register({ agentId, capabilities: [`sdk_test_${count}`], description: "one" });
    await within(changed.opened, "the first update");
    changed = gate();
    back = gate();
    await node().restart();
    await reached.connect();
    await within(back.opened, "the watch to be back, by what it missed or by a new list");
    await reached.register({ agentId, capabilities: [`sdk_test_${count}`], description: "two" });
    await within(changed.opened, "the update after the restart");
    expect(seen.filter((type) => type === "agent.updated")).toHaveLength(2);
  });
});
