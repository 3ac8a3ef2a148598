import { describe, expect, test } from "vitest";
import { answering, secretKey } from "../../../../../test/kit/api-server.js";
import { type ChatRespond, ChatServer } from "../../../../../test/kit/chat-server.js";
import { settle } from "../../../../../test/kit/fake-system.js";
import { endingOf, orders, useChatBench } from "../../../../../test/kit/openai-chat.js";
import { within } from "../../../../../test/kit/within.js";

const bench = useChatBench();
const { signal } = new AbortController();

describe("CAT-5: a server that does not answer well", () => {
  const half: ChatRespond = (_request, raw) => {
    raw.writeHead(200, { "content-length": "1000" });
    raw.write('{"choices":[{"mess', () => raw.destroy());
    return undefined;
  };
  const hangUp: ChatRespond = (_request, raw) => {
    raw.destroy();
    return undefined;
  };
  const bad: [string, ChatRespond, number, string, RegExp][] = [
    ["HTML", answering(200, "<html>"), 1, "bad_answer", /not JSON; check that its base URL/],
    ["no choices", answering(200, { choices: [] }), 1, "bad_answer", /no message in `choices`/],
    ["null", answering(200, "null"), 1, "bad_answer", /no message in `choices`/],
    ["16 MB", answering(200, "x".repeat(16_000_000)), 1, "bad_answer", /more than 262144 bytes, which no choice takes/],
    [
      "401",
      answering(401, { error: { message: `Incorrect key ${secretKey}` } }),
      1,
      "unauthorized",
      /answered 401: its key is not accepted/,
    ],
    ["404", answering(404, { error: { message: "no model" } }), 2, "refused", /404 \(no model\); check its base URL/],
    ["a redirect", answering(307, "", { location: "http://127.0.0.1:1/" }), 2, "refused", /redirects are not followed/],
    ["429", answering(429), 1, "rate_limited", /answered 429: too many requests/],
    ["429 for a minute", answering(429, {}, { "retry-after": "60" }), 1, "rate_limited", /too many requests/],
    ["500", answering(500, { error: { message: "out of memory" } }), 1, "server_error", /500 \(out of memory\)/],
    ["by hanging up", hangUp, 2, "unreachable", /broke off \(UND_ERR_SOCKET\)/],
    ["half an answer", half, 2, "unreachable", /broke off \(UND_ERR_SOCKET\)/],
  ];
  test.each(bad)(
    "answers %s: the error says what to do, and it is well again",
    async (...[, respond, sent, reason, said]) => {
      const chooser = bench.open();
      const well = bench.server.respond;
      bench.server.respond = respond;
      const failed = await bench.ending(chooser.choose("lists orders", orders, signal));
      expect(failed).toEqual(bench.failure(reason, said));
      expect([bench.server.questions.length, bench.system.pending]).toEqual([sent, 0]);
      bench.server.respond = well;
      await bench.system.advanceAsync(60_000);
      expect(await chooser.choose("lists orders", orders, signal)).toMatchObject({ chosen: "list_orders" });
    },
  );

  test("is not there at all", async () => {
    const chooser = bench.open();
    const failed = bench.failure(
      "unreachable",
      /could not be reached, or broke off \(ECONNREFUSED\); check its base URL/,
    );
    await bench.server.close();
    expect(await bench.ending(chooser.choose("lists orders", orders, signal))).toEqual(failed);
    bench.server = await ChatServer.listen();
  });

  test.each(["before the head", "within the body"])(
    "is silent %s: that ends with the time that is set",
    async (when) => {
      const chooser = bench.open();
      bench.server.respond = (_request, raw) => {
        if (when === "within the body") raw.write('{"choices":');
        return undefined;
      };
      const end = endingOf(chooser.choose("lists orders", orders, signal));
      await bench.server.requests.next("the request");
      await bench.system.advanceAsync(1_999);
      expect(await Promise.race([end, settle(20).then(() => "waits")])).toBe("waits");
      await bench.system.advanceAsync(1);
      const failed = bench.failure("timeout", /did not answer within 2000 ms; see to the server/, { retryable: true });
      expect(await within(end, "the failure")).toEqual(failed);
    },
  );

  test("has the rest of that time and no more for the same question without a structure", async () => {
    const chooser = bench.open();
    bench.server.respond = ({ body }) => {
      if (body.response_format === undefined) return undefined;
      bench.system.stall(1_500);
      return { status: 400, body: {} };
    };
    const end = endingOf(chooser.choose("lists orders", orders, signal));
    await bench.server.requests.next("the first request");
    await bench.server.requests.next("the second");
    await bench.system.advanceAsync(499);
    expect(await Promise.race([end, settle(20).then(() => "waits")])).toBe("waits");
    await bench.system.advanceAsync(1);
    expect(await within(end, "the failure")).toEqual(bench.failure("timeout", /within 2000 ms/));
  });

  test("is not quoted where it quotes what it was asked", async () => {
    const chooser = bench.open();
    bench.server.respond = answering(422, { detail: "cannot read: my salary is 100" });
    const failed = await bench.ending(chooser.choose("my salary is 100", orders, signal));
    expect(failed).toEqual(bench.failure("refused", /answered 422; check the model/));
  });
});

describe("CAT-5: a server that fails three times in a row", () => {
  async function fail(chooser: ReturnType<typeof bench.open>, times: number): Promise<void> {
    for (let i = 0; i < times; i++)
      expect(await bench.ending(chooser.choose("lists orders", orders, signal))).toBeInstanceOf(Error);
  }

  test("is left alone for ten seconds, and the operator hears of it once", async () => {
    const chooser = bench.open();
    const well = bench.server.respond;
    await chooser.choose("cancels an order", orders, signal);
    bench.server.respond = answering(401);
    await fail(chooser, 3);
    bench.server.respond = well;
    bench.server.questions.length = 0;
    await bench.system.advanceAsync(4_000);
    expect(await endingOf(chooser.choose("lists orders", orders, signal))).toEqual(
      bench.failure("resting", /left alone for a while/, { retryable: true, retryAfterMs: 6_000 }),
    );
    // What is known needs no server.
    expect(await chooser.choose("cancels an order", orders, signal)).toMatchObject({ cached: true });
    await bench.system.advanceAsync(5_999);
    await fail(chooser, 1);
    expect(bench.server.questions).toEqual([]);
    await bench.system.advanceAsync(1);
    expect(await chooser.choose("lists orders", orders, signal)).toMatchObject({ chosen: "list_orders" });
    expect(bench.warnings).toEqual([
      expect.stringMatching(/is not asked for a while.*\(10000 ms\).*small at .*answered 401/),
    ]);
  });

  test("is left alone anew when it fails once more after that, until it has answered", async () => {
    const chooser = bench.open();
    const well = bench.server.respond;
    bench.server.respond = answering(401);
    await fail(chooser, 3);
    await bench.system.advanceAsync(10_000);
    await fail(chooser, 2);
    expect(bench.server.questions).toHaveLength(4);
    await bench.system.advanceAsync(10_000);
    bench.server.respond = well;
    await chooser.choose("lists orders", orders, signal);
    bench.server.respond = answering(401);
    bench.server.questions.length = 0;
    for (const request of ["a", "b"]) await bench.ending(chooser.choose(request, orders, signal));
    bench.server.respond = well;
    expect(await chooser.choose("cancels an order", orders, signal)).toMatchObject({ chosen: "cancel_order" });
    expect(bench.warnings).toHaveLength(2);
  });

  test("or once with the time to wait, is asked again when that is over", async () => {
    const chooser = bench.open();
    const well = bench.server.respond;
    bench.server.respond = answering(429, {}, { "retry-after": "30" });
    await fail(chooser, 1);
    bench.server.respond = well;
    await bench.system.advanceAsync(29_999);
    expect(await endingOf(chooser.choose("lists orders", orders, signal))).toEqual(
      bench.failure("resting", /left alone/, { retryAfterMs: 1 }),
    );
    await bench.system.advanceAsync(1);
    expect(await chooser.choose("lists orders", orders, signal)).toMatchObject({ chosen: "list_orders" });
  });
});
