import { beforeEach, describe, expect, test } from "vitest";
import { answering, useEmbedderBench } from "../../../../../test/kit/openai-embedder.js";
import type { VectorCache } from "./vector-cache.js";

const bench = useEmbedderBench();

describe("CAT-4: opening an embedder", () => {
  let cache: VectorCache;
  beforeEach(async () => {
    cache = await bench.cache();
  });

  test("learns the dimensions from the server, and names them and the model in its id", async () => {
    const embedder = await bench.open();
    expect([embedder.dims, embedder.languages]).toEqual([64, ["*"]]);
    expect(embedder.id).toMatch(/^openai-letters-64-[0-9a-f]{12}$/);
    expect(bench.warnings).toEqual([]);
  });

  test("fails where the model gives other dimensions than are set, or the key is wrong", async () => {
    await expect(bench.open({ dimensions: 32 })).rejects.toMatchObject({
      details: { reason: "bad_answer" },
      message: expect.stringMatching(/with 64 numbers, where its setting `dimensions` says 32/),
    });
    bench.server.respond = answering(401);
    await expect(bench.open()).rejects.toMatchObject({ details: { reason: "unauthorized" } });
  });

  test("drops a language whose sentences all come out the same, and says so", async () => {
    bench.server.respond = ({ body }) => ({
      body: bench.server.well(body.input.map((text) => text.replace(/\p{Script=Han}/gu, "?"))),
    });
    const embedder = await bench.open();
    expect(embedder.languages).toEqual(["en"]);
    expect(bench.warnings).toEqual([expect.stringMatching(/unlike sentences of zh .*choose a multilingual model/)]);
  });

  test("asks for nothing that is in the cache, but for one text", async () => {
    const first = await bench.open({}, cache);
    const [vector] = await first.embed(["delete the order"]);
    const { server } = bench;
    const well = server.respond;
    let texts = 0;
    server.respond = (request, raw) => {
      texts += request.body.input.length;
      return well(request, raw);
    };
    const second = await bench.open({}, cache);
    expect(second.id).toBe(first.id);
    expect(await second.embed(["delete the order"])).toEqual([vector]);
    expect(texts).toBe(1);
  });

  test("with another model or prefix meets none of the old vectors", async () => {
    await (await bench.open({}, cache)).embed(["delete the order"]);
    for (const change of [{ model: "others" }, { passagePrefix: "p: " }, { dimensions: 64 }]) {
      await (await bench.open(change, cache)).embed(["delete the order"]);
      expect(bench.server.texts).toHaveLength(1);
    }
  });

  test("has done with the cache when another model answers by the same name, and says so", async () => {
    const first = await bench.open({}, cache);
    const [old] = await first.embed(["delete the order"]);
    bench.server.respond = ({ body }) => ({
      body: bench.server.well(body.input.map((text) => [...text].reverse().join(""))),
    });
    const second = await bench.open({}, cache);
    expect(bench.warnings).toEqual([
      expect.stringMatching(/is another model than when the cache was written.* not used any more/),
    ]);
    const [fresh] = await second.embed(["delete the order"]);
    expect([bench.server.texts, second.id]).toEqual([["delete the order"], first.id]);
    expect(fresh).not.toEqual(old);
  });

  test("gives others the event loop while thousands of texts are read from the cache", async () => {
    const embedder = await bench.open({}, cache);
    const texts = Array.from({ length: 900 }, (_, i) => `text number ${i}`);
    await embedder.embed(texts);
    let turns = 0;
    let done = false;
    const turn = () => {
      turns++;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    bench.server.texts.length = 0;
    await embedder.embed(texts);
    done = true;
    expect(bench.server.texts).toEqual([]);
    expect(turns).toBeGreaterThanOrEqual(8);
  });
});
