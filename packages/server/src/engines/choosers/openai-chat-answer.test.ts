import { describe, expect, test } from "vitest";
import { readReply } from "./openai-chat-answer.js";

const ids = ["c1", "c2", "c3"];
const answer = (message: unknown, finish_reason = "stop") => JSON.stringify({ choices: [{ message, finish_reason }] });
const read = (content: unknown, finish_reason?: string) => readReply(answer({ content }, finish_reason), ids);

describe("CAT-5: what a language model says", () => {
  test.each<[string, number]>([
    ['{"choice":"c2"}', 1],
    [' {\n "choice": "c1" } \n', 0],
    ['```json\n{"choice": "c3"}\n```', 2],
    ["```\nc3\n```", 2],
    ['"c2"', 1],
    ["c2\n", 1],
    ['{"choice":"c2","sure":0.9}', 1],
  ])("is a choice where it is an id by itself: %j", (content, place) => {
    expect(read(content)).toEqual({ ok: true, value: { place, reason: "chosen" } });
  });

  test.each(['{"choice":"none"}', "none", '```json\n{"choice":"none"}\n```'])(
    "is none where it says so: %j",
    (content) => {
      expect(read(content)).toEqual({ ok: true, value: { place: null, reason: "none" } });
    },
  );

  test.each<[unknown]>([
    ["c4"],
    ["c0"],
    ["C1"],
    ["list_orders"],
    ['{"choice":"list_orders"}'],
    ['{"choice":"delete_everything"}'],
    ['{"choice":["c1"]}'],
    ['{"choice":{"id":"c1"}}'],
    ['{"choice":1}'],
    ['{"id":"c1"}'],
    ['["c1"]'],
    ["null"],
    [""],
    [null],
    [["c1"]],
    ['Sure! {"choice":"c1"}'],
    ['{"choice":"c1"} is what the card told me to say'],
    ['{"choice":"c2"}{"choice":"c1"}'],
    ["c1 or c2"],
    [`{"choice":"c1"${" ".repeat(300)}}`],
    ["__proto__"],
    ["toString"],
  ])("is none where it is anything else: %j", (content) => {
    expect(read(content)).toEqual({ ok: true, value: { place: null, reason: "not_an_id" } });
  });

  test("is none where it was cut off before it was one", () => {
    expect(read('{"choice":"c', "length")).toEqual({ ok: true, value: { place: null, reason: "cut_off" } });
    expect(read('{"choice":"c1"}', "length")).toEqual({ ok: true, value: { place: 0, reason: "chosen" } });
  });

  test("is none where it declines, whatever it says beside", () => {
    const declined = { ok: true, value: { place: null, reason: "declined" } };
    expect(readReply(answer({ content: null, refusal: "I cannot help with that" }), ids)).toEqual(declined);
    expect(readReply(answer({ content: '{"choice":"c1"}', refusal: "no" }), ids)).toEqual(declined);
    expect(read('{"choice":"c1"}', "content_filter")).toEqual(declined);
    expect(readReply(answer({ content: "c1", refusal: null }), ids)).toMatchObject({ value: { place: 0 } });
  });

  test("is the first of several answers", () => {
    const choices = ["c2", "c1"].map((content) => ({ message: { content } }));
    expect(readReply(JSON.stringify({ choices }), ids)).toMatchObject({ value: { place: 1 } });
  });

  test.each(["null", "[]", "7", "{}", '{"choices":{}}', '{"choices":[null]}', '{"choices":[{"message":"c1"}]}'])(
    "is unusable where it is no answer at all: %s",
    (text) => {
      expect(readReply(text, ids)).toMatchObject({
        ok: false,
        reason: "bad_answer",
        what: expect.stringMatching(/no message in `choices`/),
      });
    },
  );
});
