import type { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { parseQueries } from "./queries-file.js";

function refusal(text: string): ReachError {
  try {
    parseQueries(text, "q.jsonl");
  } catch (error) {
    return error as ReachError;
  }
  throw new Error("expected a refusal");
}

describe("CAT-9: a file of queries", () => {
  it("is read line by line, whatever else the lines say, and however they end", () => {
    const text =
      '\uFEFF{"text":"where is it","expect":"track","kind":"direct"}\r\n\r\n{"text":"讲个笑话","expect":null}';
    expect(parseQueries(text, "q.jsonl")).toEqual([
      { text: "where is it", expect: "track" },
      { text: "讲个笑话", expect: null },
    ]);
  });

  it.each([
    ["nope", "", "json", "the line is not JSON"],
    ["[1]", "", "type", "the line must be an object"],
    ["null", "", "type", "the line must be an object"],
    ['{"expect":null}', "text", "required", "text is missing; write what somebody would ask for"],
    ['{"text":7,"expect":null}', "text", "type", "text must be a string, not a number"],
    ['{"text":" ","expect":null}', "text", "minLength", "text must not be empty"],
    [`{"text":"${"x".repeat(8193)}","expect":null}`, "text", "maxLength", "text has 8193 characters"],
    ['{"text":"x"}', "expect", "required", "expect is missing; write the capability's name, or null"],
    ['{"text":"x","expect":["a"]}', "expect", "type", "expect must be a string or null, not an array"],
    ['{"text":"x","expect":""}', "expect", "minLength", "expect must not be empty"],
    [`{"text":"x","expect":"${"n".repeat(129)}"}`, "expect", "maxLength", "expect has 129 characters"],
  ])("refuses the line %s by %j, rule %s", (line, field, rule, message) => {
    const { code, message: said, details } = refusal(`{"text":"x","expect":null}\n${line}`);
    expect(code).toBe("INVALID_REQUEST");
    expect(said).toContain(`q.jsonl:2: ${message}`);
    expect(details?.["problems"]).toMatchObject([{ file: "q.jsonl", line: 2, field, rule }]);
  });

  it("refuses all bad lines at once, and shows the first ten", () => {
    const { message, details } = refusal("1\n".repeat(12));
    expect(details?.["problems"]).toHaveLength(12);
    expect(message.match(/q\.jsonl:\d+/g)).toHaveLength(10);
    expect(message).toContain("and 2 more");
  });

  it.each(["", "\n \n"])("refuses a file without a query: %j", (text) => {
    expect(refusal(text).message).toContain("q.jsonl: no query is in it");
  });
});
