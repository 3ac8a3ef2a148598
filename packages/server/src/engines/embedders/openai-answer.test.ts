import { describe, expect, test } from "vitest";
import { type Answer, readAnswer } from "./openai-answer.js";

const read = (data: unknown, count = 2, dims?: number): Answer =>
  readAnswer(JSON.stringify({ data }), {
    count,
    dims: dims === undefined ? undefined : { value: dims, source: "first answer" },
  });
const vectors = (answer: Answer): number[][] => (answer.ok ? answer.vectors.map((vector) => [...vector]) : []);
const base64 = (...numbers: number[]) => Buffer.from(new Float32Array(numbers).buffer).toString("base64");

describe("CAT-4: an answer of an embeddings server", () => {
  test("gives vectors of length 1, in the order of their index, not of the list", () => {
    const answer = read([
      { index: 1, embedding: [0, 5] },
      { index: 0, embedding: [-3, 4] },
    ]);
    const [first, second] = vectors(answer);
    expect(first![0]).toBeCloseTo(-0.6, 6);
    expect(first![1]).toBeCloseTo(0.8, 6);
    expect(second).toEqual([0, 1]);
  });

  test("is taken as it stands where no vector has an index", () => {
    expect(vectors(read([{ embedding: [2, 0] }, { embedding: [0, 2] }]))).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  test("is read from base64 too, whoever asked for it, padded or not", () => {
    const answer = read([
      { index: 0, embedding: base64(0, 3) },
      { index: 1, embedding: base64(4, 0).replace(/=+$/, "") },
    ]);
    expect(vectors(answer)).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });

  test("has numbers whose squares are beyond a 32-bit float made to length 1 all the same", () => {
    expect(
      vectors(
        read(
          [
            { index: 0, embedding: [1e30, 0] },
            { index: 1, embedding: [0, 1e-8] },
          ],
          2,
        ),
      ),
    ).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  const good = { index: 0, embedding: [1, 0] };
  test.each<[string, unknown, RegExp]>([
    ["too few vectors", [good], /answered 1 vectors to 2 texts/],
    ["too many", [good, good, good], /answered 3 vectors to 2 texts/],
    ["an index twice", [good, good], /whose `index` are not 0 to 1/],
    ["an index beyond the end", [good, { ...good, index: 2 }], /whose `index` are not 0 to 1/],
    ["an index on some", [good, { embedding: [1, 0] }], /whose `index` are not 0 to 1/],
    ["null within", [good, { index: 1, embedding: [1, null] }], /vector 2 of 2 with null where number 2/],
    ["a string within", [good, { index: 1, embedding: ["0.1", 2] }], /vector 2 of 2 with a value of type string/],
    ["NaN in base64", [good, { index: 1, embedding: base64(Number.NaN, 1) }], /vector 2 of 2 with NaN where number 1/],
    ["numbers that overflow", [good, { index: 1, embedding: [1e300, 1e300] }], /numbers too large/],
    ["text that is no base64", [good, { index: 1, embedding: "n/a" }], /not base64 of 32-bit floats/],
    ["base64 of half a number", [good, { index: 1, embedding: "AAAA" }], /not base64 of 32-bit floats/],
    ["no vector", [good, { index: 1 }], /vector 2 of 2 with no list of numbers/],
    ["a vector of nothing", [good, { index: 1, embedding: [] }], /with 0 numbers, where 1 to 8192/],
    ["too long a vector", [good, { index: 1, embedding: Array(8193).fill(1) }], /with 8193 numbers, where 1 to 8192/],
    [
      "vectors of two lengths",
      [good, { index: 1, embedding: [1, 0, 0] }],
      /with 3 numbers, where its first answer had 2/,
    ],
    ["no list", { 0: good }, /without a list of embeddings in `data`/],
    ["null in the list", [null, good], /without a list of embeddings in `data`/],
  ])("with %s is refused, and says which and what", (_name, data, message) => {
    expect(read(data)).toEqual({ ok: false, reason: "bad_answer", what: expect.stringMatching(message) });
  });

  test.each(["", "<html>hello</html>", '{"data":[{"embedding":[NaN]}]}'])("that is not JSON is refused: %s", (text) => {
    const answer = readAnswer(text, { count: 1, dims: undefined });
    expect(answer).toMatchObject({ ok: false, reason: "bad_answer", what: expect.stringMatching(/not JSON/) });
  });

  test.each(["null", "[]", "7", '{"error":"no"}'])("that is JSON of another kind is refused: %s", (text) => {
    const answer = readAnswer(text, { count: 1, dims: undefined });
    expect(answer).toMatchObject({ ok: false, what: expect.stringMatching(/without a list/) });
  });

  test("of nothing but zeros has a reason of its own", () => {
    const zeros = { index: 1, embedding: [0, 0] };
    expect(read([good, zeros])).toMatchObject({
      ok: false,
      reason: "zero_vector",
      what: expect.stringMatching(/vector 2/),
    });
  });

  test("with other dimensions than before, or than the setting says, tells which of the two", () => {
    const data = [{ index: 0, embedding: [1, 0, 0] }];
    expect(read(data, 1, 2)).toMatchObject({ what: expect.stringMatching(/another model answers now/) });
    const dims = { value: 2, source: "setting" } as const;
    const answer = readAnswer(JSON.stringify({ data }), { count: 1, dims });
    expect(answer).toMatchObject({ what: expect.stringMatching(/`dimensions` says 2/) });
  });
});
