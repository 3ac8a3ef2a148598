import { describe, expect, test } from "vitest";
import { Ajv2020 } from "../../../test/kit/ajv.js";
import { vectors } from "../../../test/kit/vectors.js";
import { pathOf } from "./json.js";
import { params, RpcRequest, results, serverRequests } from "./schemas.js";
import { specFiles } from "./spec.js";

interface Frame {
  method?: string;
  params?: unknown;
}
interface Vectors {
  valid: { method: string; frame: Frame }[];
  invalid: { title: string; frame?: Frame; text?: string; error: { code: string; rpc: number; path?: string } }[];
  shapes: { title: string; shape: string; value: unknown; valid: boolean }[];
}
const { valid, invalid, shapes } = vectors<Vectors>("frames");

// The emitted document itself is what checks the vectors, by a validator that knows nothing of this project.
const ajv = new Ajv2020({ strict: false });
ajv.addSchema(JSON.parse(specFiles()["schema.json"]!), "spec");

function wrongAt(shape: string, value: unknown): string | undefined {
  const check = ajv.getSchema(`spec#/$defs/${shape}`)!;
  if (check(value)) return undefined;
  const [error] = check.errors!;
  const segments = error!.instancePath
    .split("/")
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  if (error!.keyword === "required") segments.push(error!.params["missingProperty"]);
  return pathOf(segments);
}

/** What a node answers a frame with before it looks anything up. */
function judge(text: string): { rpc: number; path?: string } | undefined {
  let frame: Frame;
  try {
    frame = JSON.parse(text);
  } catch {
    return { rpc: -32700 };
  }
  if (wrongAt("RpcRequest", frame) !== undefined) return { rpc: -32600 };
  if (!Object.hasOwn(params, frame.method!)) return { rpc: -32601 };
  const path = wrongAt(`${frame.method}.params`, frame.params ?? {});
  return path === undefined ? undefined : { rpc: -32600, path };
}

describe("frames", () => {
  test.each(valid)("a request of $method is well formed", ({ frame }) => {
    expect(judge(JSON.stringify(frame))).toBeUndefined();
  });

  test.each(invalid)("refused: $title", ({ frame, text, error: { code, ...expected } }) => {
    expect(code).toBe("INVALID_REQUEST");
    expect(judge(text ?? JSON.stringify(frame))).toEqual(expected);
  });

  test.each(shapes)("$shape: $title", ({ shape, value, valid: isValid }) => {
    expect(wrongAt(shape, value) === undefined).toBe(isValid);
  });

  test("every method has a valid frame and, if it takes anything, an invalid one", () => {
    expect(new Set(valid.map(({ method }) => method))).toEqual(new Set(Object.keys(params)));
    const needing = Object.entries(params).filter(([, schema]) => Object.keys(schema.properties).length > 0);
    const broken = new Set(invalid.filter(({ error }) => error.path !== undefined).map(({ frame }) => frame?.method));
    const unbroken = needing.map(([method]) => method).filter((method) => !broken.has(method));
    expect(unbroken).toEqual(["progress"]);
  });

  test("every request has a result, and what the server asks has one too", () => {
    expect([...Object.keys(results), "progress"].sort()).toEqual(Object.keys(params).sort());
    expect(Object.keys(serverRequests)).toEqual(["deliver", "task.update", "ping"]);
    expect(RpcRequest.properties.method).toBeDefined();
  });

  test("no schema closes an object, so that a newer peer's fields do no harm", () => {
    expect(specFiles()["schema.json"]).not.toMatch(/"(additional|unevaluated)Properties": false/);
  });
});
