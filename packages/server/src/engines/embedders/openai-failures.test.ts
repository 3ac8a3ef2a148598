import { describe, expect, test } from "vitest";
import { EmbeddingServer, type Respond } from "../../../../../test/kit/embedding-server.js";
import { settle } from "../../../../../test/kit/fake-system.js";
import { answering, ending, secretKey, useEmbedderBench } from "../../../../../test/kit/openai-embedder.js";
import { within } from "../../../../../test/kit/within.js";

const bench = useEmbedderBench();

describe("CAT-4: a server that answers badly", () => {
  const bad: [string, Respond, string, RegExp][] = [
    ["HTML", answering(200, "<html>"), "bad_answer", /not JSON; check that its base URL/],
    ["too few vectors", answering(200, { data: [] }), "bad_answer", /answered 0 vectors to 1 texts/],
    [
      "a vector of other dimensions",
      answering(200, { data: [{ embedding: [1] }] }),
      "bad_answer",
      /with 1 numbers, where its first answer had 64/,
    ],
    ["zeros", answering(200, { data: [{ embedding: Array(64).fill(0) }] }), "zero_vector", /nothing but zeros/],
    ["16 MB of it", answering(200, "x".repeat(16_000_000)), "bad_answer", /answered more than 16 vectors can take/],
    [
      "401",
      answering(401, { error: { message: `Incorrect key ${secretKey}` } }),
      "unauthorized",
      /its key is not accepted/,
    ],
    ["403", answering(403), "unauthorized", /answered 403/],
    [
      "404",
      answering(404, { error: { message: "no such model" } }),
      "refused",
      /404 \(no such model\); check its base URL/,
    ],
    ["400", answering(400, { error: "input too long" }), "refused", /answered 400 \(input too long\)/],
    ["413", answering(413), "refused", /answered 413; set a smaller batch/],
    ["a redirect", answering(307, "", { location: "http://127.0.0.1:1/" }), "refused", /redirects are not followed/],
    [
      "429 of an account that has nothing left",
      answering(429, { error: { message: "You exceeded your quota", code: "insufficient_quota" } }),
      "rate_limited",
      /nothing left, which waiting does not help/,
    ],
  ];
  test.each(bad)("%s is refused at once, and the error says what to do", async (_name, respond, reason, message) => {
    const embedder = await bench.open();
    bench.server.respond = respond;
    expect(await ending(embedder.embed(["delete the order"]))).toEqual(
      bench.failure(reason, message, { retryable: false }),
    );
    expect(bench.server.texts).toHaveLength(1);
    bench.server.respond = ({ body }) => ({ body: bench.server.well(body.input) });
    expect(await embedder.embed(["delete the order"])).toHaveLength(1);
  });

  test("one bad batch fails the whole, and the next call asks only for what is still missing", async () => {
    const cache = await bench.cache();
    const embedder = await bench.open({ batchSize: 1, requestsMax: 1 }, cache);
    const well = bench.server.respond;
    bench.server.respond = (request, raw) =>
      request.body.input[0] === "b" ? { status: 400, body: {} } : well(request, raw);
    expect(await ending(embedder.embed(["a", "b"]))).toEqual(bench.failure("refused", /answered 400/));
    bench.server.respond = well;
    expect(await embedder.embed(["a", "b"])).toHaveLength(2);
    expect(bench.server.texts).toEqual(["a", "b", "b"]);
  });

  test("what the server says is not repeated when it holds a text or the key", async () => {
    const embedder = await bench.open();
    for (const word of ["cannot read: my salary is 100", `${secretKey} is on no list`]) {
      bench.server.respond = answering(422, { detail: word });
      expect(await ending(embedder.embed(["my salary is 100"]))).toEqual(
        bench.failure("refused", /answered 422; check/),
      );
    }
  });

  test("no connection is tried again, then an error that names the address", async () => {
    const embedder = await bench.open();
    await bench.server.close();
    const end = ending(embedder.embed(["delete the order"]));
    await bench.untilTimers(2);
    await bench.system.advanceAsync(100);
    await bench.untilTimers(2);
    await bench.system.advanceAsync(400);
    expect(await within(end, "the failure")).toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      message: expect.stringMatching(/could not be reached, or broke off \(ECONNREFUSED\); check its base URL/),
    });
    bench.server = await EmbeddingServer.listen();
  });

  test("a connection that breaks in the middle of an answer is tried again", async () => {
    const embedder = await bench.open();
    const well = bench.server.respond;
    bench.server.respond = (_request, raw) => {
      bench.server.respond = well;
      raw.writeHead(200, { "content-length": "1000" });
      raw.write('{"data":', () => raw.destroy());
      return undefined;
    };
    const vectors = embedder.embed(["delete the order"]);
    await bench.untilTimers(2);
    await bench.system.advanceAsync(100);
    expect(await vectors).toHaveLength(1);
    expect(bench.server.texts).toHaveLength(2);
  });

  test("429 is asked again when the server says, and 5xx a little later; all timers are gone in the end", async () => {
    const embedder = await bench.open();
    const well = bench.server.respond;
    bench.server.respond = answering(429, {}, { "retry-after": "2" });
    const vectors = embedder.embed(["delete the order"]);
    await bench.untilTimers(2);
    bench.server.respond = answering(503, {});
    await bench.system.advanceAsync(1_999);
    expect(bench.server.texts).toHaveLength(1);
    await bench.system.advanceAsync(1);
    await bench.untilTimers(2);
    expect(bench.server.texts).toHaveLength(2);
    bench.server.respond = well;
    await bench.system.advanceAsync(400);
    expect(await vectors).toHaveLength(1);
    expect([bench.server.texts.length, bench.system.pending]).toEqual([3, 0]);
  });

  test("429 for longer than there is time fails at once, with the time to wait", async () => {
    const embedder = await bench.open();
    bench.server.respond = answering(429, {}, { "retry-after": "60" });
    const failed = bench.failure("rate_limited", /answered 429: too many requests/, {
      retryable: true,
      retryAfterMs: 60_000,
    });
    expect(await ending(embedder.embed(["delete the order"]))).toEqual(failed);
    const inAMinute = new Date(bench.system.now() + 60_000).toUTCString();
    bench.server.respond = answering(429, {}, { "retry-after": inAMinute });
    expect(await ending(embedder.embed(["delete the order"]))).toEqual(failed);
    expect([bench.server.texts.length, bench.system.pending]).toEqual([2, 0]);
  });

  test("a server that never recovers is asked three times and no more", async () => {
    const embedder = await bench.open();
    bench.server.respond = answering(500, { error: { message: "out of memory" } });
    const end = ending(embedder.embed(["delete the order"]));
    await bench.untilTimers(2);
    await bench.system.advanceAsync(100);
    await bench.untilTimers(2);
    await bench.system.advanceAsync(400);
    const failed = bench.failure("server_error", /answered 500 \(out of memory\); see to the server/, {
      retryable: true,
    });
    expect(await within(end, "the failure")).toEqual(failed);
    expect([bench.server.texts.length, bench.system.pending]).toEqual([3, 0]);
  });

  test.each(["before the head", "within the body"])("silence %s ends with the time that is set", async (when) => {
    const embedder = await bench.open();
    bench.server.respond = (_request, raw) => {
      if (when === "within the body") raw.write('{"data":');
      return undefined;
    };
    const end = ending(embedder.embed(["delete the order"]));
    await bench.server.requests.next("the request");
    await bench.system.advanceAsync(4_999);
    expect(await Promise.race([end, settle(20).then(() => "waits")])).toBe("waits");
    await bench.system.advanceAsync(1);
    const failed = bench.failure("timeout", /did not answer 1 texts within 5000 ms; see to the server/, {
      retryable: true,
    });
    expect(await within(end, "the failure")).toEqual(failed);
  });
});
