import { describe, expect, test } from "vitest";
import { accepted, cardOf, completed, type Handler, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json, Wire } from "../kit/wire.js";

const node = useNode({ settings: { limits: { queuedCallsMax: 40 }, delivery: { lostGraceMs: 100 } } });
const { bare, join } = usePeers(node);
const limited = useNode({ settings: { limits: { messagesPerSecPerCapability: 20 } } });
const there = usePeers(limited);
const never: Handler = () => undefined;
const roomy = (more: Json = {}) => cardOf({ maxConcurrentTasks: 10_000, ...more });
const call = (caller: Wire, agent: SocketAgent, more: Json = {}) =>
  caller.request("call", { capability: agent.capability, input: 1, ...more });
/** The errors of as many calls; undefined for those that were answered. */
const errors = (calls: Promise<Json>[]): Promise<Json[]> =>
  Promise.all(
    calls.map((called) =>
      called.then(
        () => undefined,
        (error: Json) => error,
      ),
    ),
  );

describe("RES-3: an agent that hangs", () => {
  test("holds 256 calls of one caller, the rest are BUSY at once, and others are served as ever", async () => {
    const [hanging, healthy] = [await join(roomy(), never), await join(roomy())];
    const [caller, other] = [await bare(), await bare()];
    const held = Array.from({ length: 256 }, () => call(caller, hanging));
    for (let n = 0; n < 256; n++) await hanging.next();
    expect(await caller.refused("call", { capability: hanging.capability, input: 1 })).toMatchObject({
      code: "BUSY",
      rpc: -32012,
      data: {
        retryable: true,
        outcome: "not_executed",
        retryAfterMs: expect.any(Number),
        details: { capability: hanging.capability, limit: 256, inFlight: 256 },
      },
    });
    expect((await call(caller, healthy)).data).toBe(1);
    const another = call(other, hanging);
    const { id } = await hanging.next();
    hanging.wire.respond(id, completed("served"));
    expect((await another).data).toBe("served");
    expect((await node().http.get("/metrics")).text).toMatch(/^agent_reach_calls_over_share_total [1-9]/m);
    hanging.cut();
    await errors(held);
  });

  test("keeps the calls that nest in the same chain within the deadline of the outermost", async () => {
    const [front, back] = [await join(cardOf(), () => accepted), await join(cardOf(), () => accepted)];
    const caller = await bare();
    const outer = errors([call(caller, front, { timeoutMs: 700 })]);
    const { envelope } = await front.next();
    const inner = errors([call(front.wire, back, { timeoutMs: 60_000, parentId: envelope.messageId })]);
    expect((await back.next()).envelope.timeoutMs).toBeLessThanOrEqual(700);
    const [[outerError], [innerError]] = await Promise.all([outer, inner]);
    expect([outerError!.code, innerError!.code]).toEqual(["TIMEOUT", "TIMEOUT"]);
    const late = await front.wire.refused("call", {
      capability: back.capability,
      input: 2,
      parentId: envelope.messageId,
    });
    expect(late).toMatchObject({ code: "CANCELED", data: { outcome: "not_executed", retryable: false } });
  });
});

describe("RES-5: a full line", () => {
  test("does not keep out a caller who has nothing in it", async () => {
    const agent = await join(cardOf({ maxConcurrentTasks: 1 }), () => accepted);
    const [greedy, modest] = [await bare(), await bare()];
    const many = errors(Array.from({ length: 60 }, () => call(greedy, agent, { timeoutMs: 3_000 })));
    const first = await agent.next();
    // The node has read all of the sixty by the time it answers this.
    await greedy.request("ping", {});
    const one = call(modest, agent);
    await modest.request("ping", {});
    await agent.complete(first, completed(0));
    // Callers take turns: the second to be served after the first is the modest one's.
    const seen = [await agent.next()];
    await agent.complete(seen[0]!, completed("x"));
    seen.push(await agent.next());
    await agent.complete(seen[1]!, completed("x"));
    expect((await one).data).toBe("x");
    const outOfLine = (await many).filter((error) => error?.data.details?.limit === 40);
    // One at work and forty in line; of those one gave way.
    expect(outOfLine).toHaveLength(60 - 41 + 1);
    expect(outOfLine[0]).toMatchObject({ code: "BUSY", data: { outcome: "not_executed", retryable: true } });
  });
});

describe("RES-4: a capability with a rate limit", () => {
  test("refuses what is over it as RATE_LIMITED, by socket and by HTTP, calls and tasks", async () => {
    const agent = await there.join(roomy());
    const caller = await there.bare();
    const all = await errors(Array.from({ length: 200 }, () => call(caller, agent)));
    const over = all.filter((error) => error !== undefined);
    expect(all.length - over.length).toBeGreaterThanOrEqual(20);
    expect(new Set(over.map(({ code }) => code))).toEqual(new Set(["RATE_LIMITED"]));
    expect(over[0]).toMatchObject({
      rpc: -32014,
      data: { retryable: true, outcome: "not_executed", details: { scope: "capability", perSec: 20 } },
    });
    expect(over[0]!.data.retryAfterMs).toBeLessThanOrEqual(50);
    const posted = await Promise.all(
      ["/v1/call", "/v1/tasks"].flatMap((path) =>
        Array.from({ length: 60 }, () => limited().http.post(path, { capability: agent.capability, input: 1 })),
      ),
    );
    const refusals = posted.filter(({ status }) => status === 429);
    expect(refusals.length).toBeGreaterThan(0);
    for (const { body, headers } of refusals) {
      expect(body).toMatchObject({ code: "RATE_LIMITED", retryable: true, outcome: "not_executed" });
      expect(headers["retry-after"]).toBe("1");
    }
  });
});
