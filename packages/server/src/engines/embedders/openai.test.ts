import { afterAll, describe, expect, test } from "vitest";
import { EmbeddingServer } from "../../../../../test/kit/embedding-server.js";
import { FakeSystem, settle } from "../../../../../test/kit/fake-system.js";
import { answering, ending, secretKey, useEmbedderBench } from "../../../../../test/kit/openai-embedder.js";
import { gate, within } from "../../../../../test/kit/within.js";
import { embedderConformance } from "../../ports/conformance/embedder.js";
import { openOpenAiEmbedder } from "./openai.js";
import { openAiDefaults } from "./openai-settings.js";

describe("CAT-4: any OpenAI-compatible server behind the port of embedders", () => {
  let shared: EmbeddingServer;
  afterAll(() => shared.close());
  embedderConformance({
    open: async () => {
      shared ??= await EmbeddingServer.listen();
      const settings = { ...openAiDefaults, baseUrl: shared.url, model: "letters" };
      return openOpenAiEmbedder(settings, { system: new FakeSystem(), warn: expect.unreachable });
    },
    texts: [
      { text: "cancel the meeting", near: "cancel that meeting", far: "what does this jacket cost" },
      { text: "取消明天的会议", near: "取消今天的会议", far: "今年销售报表导出" },
    ],
  });
});

const bench = useEmbedderBench();

describe("CAT-4: what is asked of the server", () => {
  test("is one POST of the model, the texts and `float`, with the key as bearer token", async () => {
    const embedder = await bench.open();
    await embedder.embed(["delete the order"]);
    const { path, headers, body } = await bench.server.requests.next("the request");
    expect([path, headers.authorization]).toEqual(["/v1/embeddings", `Bearer ${secretKey}`]);
    expect(body).toEqual({ model: "letters", input: ["delete the order"], encoding_format: "float" });
  });

  test("has no authorization without a key, and `dimensions` only where they are set", async () => {
    const embedder = await bench.open({ key: undefined, dimensions: 64 });
    await embedder.embed(["delete the order"]);
    const { headers, body } = await bench.server.requests.next("the request");
    expect([headers.authorization, body.dimensions, embedder.dims]).toEqual([undefined, 64, 64]);
  });

  test("has the prefix of its role before every text, and the vectors of the roles are kept apart", async () => {
    const embedder = await bench.open({ queryPrefix: "query: ", passagePrefix: "passage: " });
    const [asked] = await embedder.embed(["订单"], { role: "query" });
    const [searched] = await embedder.embed(["订单"]);
    expect(bench.server.texts).toEqual(["query: 订单", "passage: 订单"]);
    expect(asked).not.toEqual(searched);
  });

  test("comes in batches, the answers of which are put together in order", async () => {
    const embedder = await bench.open({ batchSize: 3 });
    const texts = Array.from({ length: 8 }, (_, i) => `text number ${i}`);
    const vectors = await embedder.embed(texts);
    expect(bench.server.requests.drain().map(({ body }) => body.input.length)).toEqual([3, 3, 2]);
    for (const [i, text] of texts.entries()) {
      const length = Math.hypot(...bench.server.vector(text));
      expect(vectors[i]).toEqual(new Float32Array(bench.server.vector(text).map((x) => x / length)));
    }
  });

  test("is no more at once than is set, and a question does not wait for a catalog", async () => {
    const held: { texts: string[]; release(): void }[] = [];
    const embedder = await bench.open({ batchSize: 1, requestsMax: 2 });
    bench.server.respond = async ({ body }) => {
      const held1 = gate();
      held.push({ texts: body.input, release: held1.open });
      await held1.opened;
      return { body: bench.server.well(body.input) };
    };
    const passages = embedder.embed(["p1", "p2", "p3"]);
    await bench.server.requests.next("p1");
    const question = embedder.embed(["q"], { role: "query" });
    const more = embedder.embed(["r"], { role: "query" });
    await bench.server.requests.next("q");
    await settle(20);
    expect(held.map(({ texts }) => texts)).toEqual([["p1"], ["q"]]);
    held[1]!.release();
    await question;
    await bench.server.requests.next("r");
    expect(held.map(({ texts }) => texts)).toEqual([["p1"], ["q"], ["r"]]);
    bench.server.respond = ({ body }) => ({ body: bench.server.well(body.input) });
    for (const { release } of held) release();
    expect([(await more).length, (await passages).length]).toEqual([1, 3]);
  });

  test("is nothing for a blank text, which is all zero; what no tokeniser reads is left away", async () => {
    const embedder = await bench.open();
    const vectors = await embedder.embed(["", " \n\t", "\u0000", "\ud800", " a\u0000b\udfff "]);
    expect(vectors.slice(0, 4).map((vector) => Math.hypot(...vector))).toEqual([0, 0, 0, 0]);
    expect(bench.server.texts).toEqual(["a b"]);
  });

  test("is the beginning of a long text, cut between characters", async () => {
    const embedder = await bench.open();
    await embedder.embed([`a${"订单".repeat(10_000)}`, `a${"🙂".repeat(1_000)}`, "a".repeat(1_501)]);
    expect(bench.server.texts.map((text) => Buffer.byteLength(text))).toEqual([1_498, 1_497, 1_500]);
    expect(bench.server.texts.join("")).not.toContain("\ufffd");
  });

  test("is one text where many ask for equal ones at the same moment", async () => {
    const embedder = await bench.open();
    const answers = await Promise.all([
      embedder.embed(["same", "other", "same"]),
      embedder.embed([" same "]),
      embedder.embed(["more", "same"]),
    ]);
    expect(bench.server.texts.sort()).toEqual(["more", "other", "same"]);
    expect(answers[1]![0]).toEqual(answers[0]![0]);
    expect(answers[2]![1]).toEqual(answers[0]![2]);
  });
});

describe("CAT-4: a caller who does not wait any more", () => {
  /** A server that holds its answers until it is told, and whether its client is gone. */
  function holding() {
    const well = bench.server.respond;
    const released = gate();
    const gone = gate();
    bench.server.respond = async (request, raw) => {
      raw.once("close", () => gone.open());
      await released.opened;
      return well(request, raw);
    };
    return { release: released.open, gone: gone.opened };
  }

  test("gets its own reason at once, and the request is called off", async () => {
    const embedder = await bench.open();
    const { gone, release } = holding();
    const caller = new AbortController();
    const end = ending(embedder.embed(["delete the order"], { signal: caller.signal }));
    await bench.server.requests.next("the request");
    const reason = new Error("the deadline of the call");
    caller.abort(reason);
    expect(await within(end, "the end")).toBe(reason);
    await within(gone, "the connection to end");
    expect(bench.system.pending).toBe(0);
    release();
    expect(await embedder.embed(["delete the order"])).toHaveLength(1);
  });

  test("who leaves before anything was sent gets no answer, and leaves nothing behind", async () => {
    const embedder = await bench.open();
    const caller = new AbortController();
    const end = ending(embedder.embed(["delete the order"], { signal: caller.signal }));
    const reason = new Error("changed my mind");
    caller.abort(reason);
    expect(await within(end, "the end")).toBe(reason);
    await settle(20);
    expect(bench.system.pending).toBe(0);
    expect(await embedder.embed(["delete the order"])).toHaveLength(1);
  });

  test("does not take the answer from others who wait for the same text", async () => {
    const embedder = await bench.open();
    const { release } = holding();
    const caller = new AbortController();
    const first = ending(embedder.embed(["delete the order"], { signal: caller.signal }));
    await bench.server.requests.next("the request");
    const second = embedder.embed(["delete the order"]);
    caller.abort(new Error("gone"));
    expect(await first).toBeInstanceOf(Error);
    release();
    expect(await second).toHaveLength(1);
    expect(bench.server.texts).toHaveLength(1);
  });

  test("while it waits for another attempt is not kept waiting", async () => {
    const embedder = await bench.open();
    bench.server.respond = answering(429, {}, { "retry-after": "4" });
    const caller = new AbortController();
    const end = ending(embedder.embed(["delete the order"], { signal: caller.signal }));
    await bench.untilTimers(2);
    const reason = new Error("gone");
    caller.abort(reason);
    expect(await within(end, "the end")).toBe(reason);
    await settle();
    expect([bench.system.pending, bench.server.texts.length]).toEqual([0, 1]);
  });

  test.each(["before the head", "within the body"])("hears that the embedder was closed %s", async (when) => {
    const embedder = await bench.open();
    bench.server.respond = (_request, raw) => {
      if (when === "within the body") raw.write('{"data":');
      return undefined;
    };
    const end = ending(embedder.embed(["delete the order"]));
    await bench.server.requests.next("the request");
    await settle(20);
    embedder.close();
    expect(await within(end, "the end")).toEqual(bench.failure("closed", /was closed/, { retryable: false }));
    expect(await ending(embedder.embed(["list orders"]))).toEqual(bench.failure("closed", /was closed/));
  });
});
