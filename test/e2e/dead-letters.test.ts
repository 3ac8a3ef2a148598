import { beforeEach, describe, expect, test } from "vitest";
import { cardOf, completed, failed, type Handler, type SocketAgent } from "../kit/agents.js";
import { useNode } from "../kit/node.js";
import { usePeers } from "../kit/peers.js";
import type { Json, Wire } from "../kit/wire.js";

/** DLV-15: what could not be done is kept, listed, requeued and discarded. */
const node = useNode({ settings: { delivery: { ackTimeoutMs: 150, backoffMs: [50, 50, 50] } } });
const peers = usePeers(node);
let caller: Wire;
beforeEach(async () => {
  caller = await peers.bare();
});
const join = (handler: Handler, card: Json = cardOf()) => peers.join(card, handler);
const submit = async (agent: SocketAgent, input: Json = 1): Promise<string> =>
  (await caller.request("submit", { capability: agent.capability, input })).messageId;
const ended = (messageId: string) => caller.request("task.result", { messageId, waitMs: 7_000 }, 9_000);
const letters = async (query = ""): Promise<Json[]> => {
  const { status, body } = await node().http.get(`/v1/dead-letters${query}`);
  expect(status).toBe(200);
  return body.tasks ?? body.deadLetters;
};
const ids = (list: Json[]): string[] => list.map((t) => t.messageId);

describe("DLV-15: dead letters", () => {
  test("hold what nobody acknowledged and what failed by a business error, by capability", async () => {
    const [silent, saying] = [await join(() => undefined), await join(() => failed("NO_STOCK", "sold out"))];
    const [dead, refused] = [await submit(silent), await submit(saying)];
    expect((await ended(dead)).state).toBe("dead");
    expect((await ended(refused)).state).toBe("failed");
    const all = await letters("?limit=500");
    expect(ids(all)).toEqual(expect.arrayContaining([dead, refused]));
    expect(all.find((t) => t.messageId === dead)).toMatchObject({ state: "dead", error: { code: "DELIVERY_TIMEOUT" } });
    expect(all.find((t) => t.messageId === refused)).toMatchObject({
      state: "failed",
      error: { code: "AGENT_ERROR", details: { code: "NO_STOCK" } },
    });
    expect(JSON.stringify(all)).toContain("business_error");
    expect(ids(await letters(`?capability=${silent.capability}`))).toEqual([dead]);
  });

  test("are requeued by messageId and then done", async () => {
    let fixed = false;
    const agent = await join(() => (fixed ? completed("after all") : failed("BROKEN")));
    const messageId = await submit(agent);
    await ended(messageId);
    fixed = true;
    const { status, body } = await node().http.post("/v1/dead-letters/requeue", { messageIds: [messageId] });
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toMatch(/1|requeued/);
    expect(await ended(messageId)).toMatchObject({ state: "completed", data: "after all" });
    expect(ids(await letters(`?capability=${agent.capability}`))).toEqual([]);
  });

  test("the requeued one's attempts go on counting", async () => {
    const agent = await join(({ attempt }) => (attempt === 1 ? failed("ONCE") : completed(attempt)));
    const messageId = await submit(agent);
    await ended(messageId);
    await node().http.post("/v1/dead-letters/requeue", { messageIds: [messageId] });
    expect(await ended(messageId)).toMatchObject({ state: "completed", data: 2 });
  });

  test("are requeued by a filter, only those that fit", async () => {
    let fixed = false;
    const handler: Handler = () => (fixed ? completed("ok") : failed("BROKEN"));
    const [one, other] = [await join(handler), await join(handler)];
    const mine = [await submit(one, 1), await submit(one, 2)];
    const theirs = await submit(other);
    for (const id of [...mine, theirs]) await ended(id);
    fixed = true;
    expect(
      (await node().http.post("/v1/dead-letters/requeue", { filter: { capability: one.capability } })).status,
    ).toBe(200);
    for (const id of mine) expect((await ended(id)).state).toBe("completed");
    expect((await caller.request("task.get", { messageId: theirs })).state).toBe("failed");
  });

  test("are discarded: no longer listed, not done", async () => {
    const agent = await join(() => failed("NO"));
    const [gone, kept] = [await submit(agent, 1), await submit(agent, 2)];
    for (const id of [gone, kept]) await ended(id);
    expect((await node().http.post("/v1/dead-letters/discard", { messageIds: [gone] })).status).toBe(200);
    expect(ids(await letters(`?capability=${agent.capability}`))).toEqual([kept]);
    await agent.next();
    await agent.next();
    expect(agent.deliveries.untaken).toEqual([]);
  });

  test("requeue and discard without ids and without a filter are refused: everything is not a default", async () => {
    for (const verb of ["requeue", "discard"]) {
      expect(await node().http.post(`/v1/dead-letters/${verb}`, {})).toMatchObject({
        status: 400,
        body: { code: "INVALID_REQUEST" },
      });
    }
  });

  test("survive a restart of the node", async () => {
    const agent = await join(() => failed("NO"));
    const messageId = await submit(agent);
    await ended(messageId);
    await node().restart("SIGKILL");
    expect(ids(await letters(`?capability=${agent.capability}`))).toEqual([messageId]);
    caller = await peers.bare();
  });
});
