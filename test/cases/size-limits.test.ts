import { describe, expect, test } from "vitest";
import { cardOf, completed, PullAgent } from "../kit/agents.js";
import { useBystander } from "../kit/bystander.js";
import type { HttpAnswer } from "../kit/http.js";
import { useNode } from "../kit/node.js";
import { call, MB, text } from "../kit/payloads.js";
import { usePeers } from "../kit/peers.js";
import { WebhookAgent } from "../kit/webhook.js";
import type { Json, WireError } from "../kit/wire.js";

/** One limit of size, at every door through which an input, a result or a card comes in. */
const node = useNode();
const { bare, join, keep } = usePeers(node);
useBystander(node);

describe("P03: the limit is the same at every door", () => {
  const sizes = [MB + 1, (5 * MB) / 4, 2 * MB];
  const overHttp = async (path: string, body: Json): Promise<HttpAnswer> => node().http.post(path, body);

  test.each(sizes)(
    "P03: an input of %i bytes is PAYLOAD_TOO_LARGE by call and submit, over socket and HTTP",
    async (bytes) => {
      const agent = await join();
      const message = { capability: agent.capability, input: text(bytes) };
      for (const method of ["call", "submit"])
        expect(await (await bare()).refused(method, message), method).toMatchObject({
          code: "PAYLOAD_TOO_LARGE",
          data: { outcome: "not_executed" },
        });
      for (const path of ["/v1/call", "/v1/invoke", "/v1/tasks"])
        expect(await overHttp(path, message), path).toMatchObject({
          status: 413,
          body: { code: "PAYLOAD_TOO_LARGE", outcome: "not_executed" },
        });
      expect(agent.deliveries.untaken).toEqual([]);
    },
  );

  /** Every way for an agent to hand in a result: the capability, and how often the work was done. */
  const doors: [string, (data: Json) => Promise<{ capability: string; times: () => number }>][] = [
    [
      "as the answer of deliver",
      async (data) => {
        const agent = await join(cardOf(), () => completed(data));
        return { capability: agent.capability, times: () => agent.deliveries.untaken.length };
      },
    ],
    [
      "as the answer of a webhook",
      async (data) => {
        const agent = keep(await WebhookAgent.answering(node(), completed(data)));
        return { capability: agent.capability, times: () => agent.posts.untaken.length };
      },
    ],
  ];

  test.each(doors.flatMap(([name, open]) => sizes.map((bytes) => [name, bytes, open] as const)))(
    "P03: a result %s of %i bytes is PAYLOAD_TOO_LARGE for call and task, and the work is not done again",
    async (_name, bytes, open) => {
      const caller = await bare();
      const { capability, times } = await open(text(bytes));
      expect(await caller.refused("call", call(capability))).toMatchObject({
        code: "PAYLOAD_TOO_LARGE",
        data: { outcome: "executed", retryable: false },
      });
      const { messageId } = await caller.request("submit", { capability, input: {} });
      expect(await caller.request("task.result", { messageId, waitMs: 5_000 })).toMatchObject({
        state: "failed",
        attempt: 1,
        error: { code: "PAYLOAD_TOO_LARGE", outcome: "executed" },
      });
      expect(times()).toBe(2);
    },
  );

  test.each([MB + 1, 2 * MB])(
    "P03: a result by complete of %i bytes is refused, over socket and HTTP",
    async (bytes) => {
      const caller = await bare();
      const agent = await join(cardOf(), () => ({ status: "accepted" }));
      await caller.request("submit", { capability: agent.capability, input: {} });
      const delivery = await agent.next();
      const refused = await agent.complete(delivery, completed(text(bytes))).catch((error: WireError) => error);
      expect(refused).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
      const puller = await PullAgent.join(node());
      await caller.request("submit", { capability: puller.capability, input: {} });
      const [pulled] = await puller.pull();
      expect(await puller.complete(pulled, completed(text(bytes)))).toMatchObject({
        status: 413,
        body: { code: "PAYLOAD_TOO_LARGE" },
      });
      // Who was told so may still hand in a reference.
      expect(await agent.complete(delivery, completed("s3://result"))).toEqual({ recorded: true });
      expect((await puller.complete(pulled, completed("s3://result"))).body).toEqual({ recorded: true });
    },
  );

  test("P03: a card over its limit is refused alike, over socket and HTTP", async () => {
    const large = cardOf({ description: "x".repeat(300_000) });
    const refused = await (await bare()).refused("register", { card: large });
    const { body } = await overHttp("/v1/agents", { card: large });
    expect([refused.code, body.code]).toEqual(["INVALID_CARD", "INVALID_CARD"]);
    const huge = cardOf({ description: "x".repeat(2 * MB) });
    expect((await (await bare()).refused("register", { card: huge })).code).toBe("PAYLOAD_TOO_LARGE");
    expect((await overHttp("/v1/agents", { card: huge })).body.code).toBe("PAYLOAD_TOO_LARGE");
  });
});
