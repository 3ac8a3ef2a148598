import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import * as browser from "./browser.js";
import * as node from "./node.js";

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** What the compiler says to files of a user's; one program for all of them, since reading the libraries is what takes time. */
function complaints(files: Record<string, string>): Record<string, string[]> {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    customConditions: ["agent-reach-source"],
    types: ["node"],
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts"],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  const texts = new Map(Object.entries(files).map(([name, text]) => [here(`${name}.ts`), text]));
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, ...more) => {
    const text = texts.get(path);
    return text === undefined ? getSourceFile(path, ...more) : ts.createSourceFile(path, text, ts.ScriptTarget.ES2023);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const found = (path: string) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  return Object.fromEntries(Object.keys(files).map((name) => [name, found(here(`${name}.ts`))]));
}

const right = `
  import { AgentReachClient, errorTable, ReachError } from "@agent-reach/sdk";
  import type {
    CallEnvelope, CallOutcome, Capability, Card, DeliveredEnvelope, ErrorBody, ErrorCode, HandlerContext, Outcome, SubmitEnvelope,
  } from "@agent-reach/sdk";
  import type { Card as WireCard, CallEnvelope as WireEnvelope, ErrorBody as WireError } from "@agent-reach/protocol";

  const capability: Capability = { name: "query_order", idempotent: true, costTier: "low" };
  export const card: Card = { agentId: "order-agent-01", capabilities: [capability] };
  export const call: CallEnvelope = { capability: "query_order", input: { order_id: "1" }, timeoutMs: 1_000 };
  export const work: SubmitEnvelope = { ...call, onStalled: "redeliver" };
  // One definition: what the SDK exports is what the wire's package says, in both directions.
  export const wire: [WireCard, WireEnvelope, WireError] = [card, call, new ReachError("BUSY", "full").toBody()];
  export const ours: [Card, CallEnvelope, ErrorBody] = wire;

  export async function use(client: AgentReachClient): Promise<number | undefined> {
    await client.register(card);
    client.onCapability("query_order", (input: { order_id: string }, context: HandlerContext) => {
      const envelope: DeliveredEnvelope = context.envelope;
      return { id: input.order_id, kind: envelope.kind };
    });
    const outcome: CallOutcome<{ id: string }> = await client.callSync<{ id: string }>(call);
    const known: Outcome = outcome.outcome;
    const code: ErrorCode | undefined = outcome.errorCode;
    if (code === "BUSY" && known === "not_executed") return errorTable[code].http;
    return outcome.orThrow().id.length;
  }
`;

const wrong = `
  import type { CallEnvelope, Card, ErrorCode } from "@agent-reach/sdk";
  export const card: Card = { capabilities: [] };
  export const call: CallEnvelope = { capability: 7, input: {} };
  export const code: ErrorCode = "NO_SUCH_CODE";
`;

describe("the entries of the package", () => {
  it("both export the types of card, envelope and errors as the wire has them (SDK-6)", () => {
    const of = (entry: string, text: string) => text.replaceAll("@agent-reach/sdk", `./${entry}.js`);
    const found = complaints({
      rightOnNode: of("node", right),
      rightInBrowsers: of("browser", right),
      wrongOnNode: of("node", wrong),
      wrongInBrowsers: of("browser", wrong),
    });
    const refused = [
      expect.stringContaining("'agentId' is missing"),
      expect.stringContaining("'number' is not assignable to type 'string"),
      expect.stringContaining('"NO_SUCH_CODE"'),
    ];
    expect(found).toEqual({ rightOnNode: [], rightInBrowsers: [], wrongOnNode: refused, wrongInBrowsers: refused });
  }, 120_000);

  it("are two, one for Node and one for browsers, and offer the same but for what only Node has (SDK-1)", () => {
    const { exports } = JSON.parse(readFileSync(here("../package.json"), "utf8"));
    expect(exports["."]).toMatchObject({ browser: { default: "./dist/browser.js" }, default: "./dist/node.js" });
    expect(Object.keys(node).filter((name) => !(name in browser))).toEqual(["currentContext"]);
    expect(Object.keys(browser).filter((name) => !(name in node))).toEqual([]);
    const methods = (entry: typeof node | typeof browser) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(entry.AgentReachClient.prototype));
    expect(methods(browser)).toEqual(methods(node));
  });
});
