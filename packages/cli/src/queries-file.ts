import { limits } from "@agent-reach/protocol";
import type { LabelledQuery } from "@agent-reach/server/catalog";
import { type FileProblem, refuseFile } from "./problems.js";

type Problem = Pick<FileProblem, "field" | "rule" | "message">;

const SHAPE = '{"text": "where is my order", "expect": "query_order"}';

/** Reads labelled queries, one JSON object a line; blank lines and other fields do not matter. Refuses all bad lines at once. */
export function parseQueries(text: string, file: string): LabelledQuery[] {
  const queries: LabelledQuery[] = [];
  const problems: FileProblem[] = [];
  for (const [at, line] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === "") continue;
    const read = readLine(line);
    if ("rule" in read) problems.push({ file, line: at + 1, ...read });
    else queries.push(read);
  }
  if (problems.length > 0) throw refuseFile(problems);
  if (queries.length === 0)
    throw refuseFile([{ file, field: "", rule: "minItems", message: `no query is in it; write lines like ${SHAPE}` }]);
  return queries;
}

function readLine(line: string): LabelledQuery | Problem {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    const message = `the line is not JSON (${(error as Error).message}); write one object a line, like ${SHAPE}`;
    return { field: "", rule: "json", message };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { field: "", rule: "type", message: `the line must be an object, like ${SHAPE}` };
  const { text, expect } = value as Record<string, unknown>;
  return textProblem(text) ?? expectProblem(expect) ?? { text: text as string, expect: expect as string | null };
}

function textProblem(text: unknown): Problem | undefined {
  const broken = (rule: string, message: string): Problem => ({ field: "text", rule, message: `text ${message}` });
  if (text === undefined) return broken("required", "is missing; write what somebody would ask for");
  if (typeof text !== "string")
    return broken("type", `must be a string, not ${kindOf(text)}; write what somebody would ask for`);
  if (text.trim() === "") return broken("minLength", "must not be empty; write what somebody would ask for");
  if (text.length > limits.textLengthMax)
    return broken(
      "maxLength",
      `has ${text.length} characters; at most ${limits.textLengthMax} are read, so shorten it`,
    );
  return undefined;
}

function expectProblem(expect: unknown): Problem | undefined {
  const broken = (rule: string, message: string): Problem => ({ field: "expect", rule, message: `expect ${message}` });
  const remedy = "write the capability's name, or null if nobody should serve it";
  if (expect === undefined) return broken("required", `is missing; ${remedy}`);
  if (expect === null) return undefined;
  if (typeof expect !== "string") return broken("type", `must be a string or null, not ${kindOf(expect)}; ${remedy}`);
  if (expect === "") return broken("minLength", `must not be empty; ${remedy}`);
  if (expect.length > limits.nameLengthMax)
    return broken("maxLength", `has ${expect.length} characters, and names at most ${limits.nameLengthMax}; ${remedy}`);
  return undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
