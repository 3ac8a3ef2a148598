import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { commandLine } from "../../../test/kit/command-line.js";

interface Seen {
  method: string;
  path: string;
  body: string;
}

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** A node that answers every request with the given status and text, and remembers what it was asked. */
async function nodeThat(
  answer: (seen: Seen) => { status?: number; text: string },
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const asked = { method: request.method ?? "", path: request.url ?? "", body };
      seen.push(asked);
      const { status = 200, text } = answer(asked);
      response.statusCode = status;
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const messageId = "0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42";
const answered = `{"messageId":"${messageId}","traceId":"t","data":{"id":9007199254740993,"price":1.10},"agentId":"order-agent-01","instanceId":"i"}`;
const settled = (state: string, more: object = {}) =>
  JSON.stringify({
    messageId,
    traceId: "t",
    kind: "task",
    state,
    capability: "c",
    attempt: 1,
    attempts: [],
    createdAt: "2026-11-29T10:00:00Z",
    deadlineAt: "2026-11-30T10:00:00Z",
    ...more,
  });

describe("agent-reach call", () => {
  it("passes the input and prints the data to the digit", async () => {
    const { url, seen } = await nodeThat(() => ({ text: answered }));
    const { code, out, err } = await commandLine([
      "call",
      "query_order",
      '{"order_id": 12345678901234567890}',
      "--url",
      url,
      "--timeout",
      "5s",
      "--agent",
      "order-agent-01",
    ]);
    expect(code).toBe(0);
    expect(seen[0]).toEqual({
      method: "POST",
      path: "/v1/call",
      body: '{"capability":"query_order","target":{"agentId":"order-agent-01"},"timeoutMs":5000,"input":{"order_id": 12345678901234567890}}',
    });
    expect(out).toBe('{\n  "id": 9007199254740993,\n  "price": 1.10\n}\n');
    expect(err).toContain(`agent-reach why ${messageId}`);
  });

  it("prints the node's answer as it came with --json, and nothing on stderr", async () => {
    const { url } = await nodeThat(() => ({ text: answered }));
    expect(await commandLine(["call", "query_order", "--json", "--url", url])).toEqual({
      code: 0,
      out: `${answered}\n`,
      err: "",
    });
  });

  it("reads the input from standard input", async () => {
    const { url, seen } = await nodeThat(() => ({ text: answered }));
    await commandLine(["call", "c", "-", "--url", url], { stdin: async () => "[1.0]\n" });
    expect(seen[0]?.body).toBe('{"capability":"c","input":[1.0]}');
  });

  it("takes the address from AGENT_REACH_URL", async () => {
    const { url, seen } = await nodeThat(() => ({ text: answered }));
    await commandLine(["call", "c"], { env: { AGENT_REACH_URL: url.replace("http", "ws").concat("/registry") } });
    expect(seen).toHaveLength(1);
  });

  it("tells a dry run as a sentence", async () => {
    const decision = { attempt: 1, request: { capability: "c" }, candidates: [] };
    const { url, seen } = await nodeThat(() => ({ text: JSON.stringify({ messageId, dryRun: true, decision }) }));
    const { out } = await commandLine(["call", "c", "--dry-run", "--url", url]);
    expect(JSON.parse(seen[0]!.body).dryRun).toBe(true);
    expect(out).toBe("Attempt 1: nobody could take c.\n");
  });

  it("exits with 1 when the agent says no, and says it in JSON when asked for JSON", async () => {
    const error = {
      code: "AGENT_ERROR",
      message: "[AGENT_ERROR] no such order",
      retryable: false,
      outcome: "executed",
    };
    const text = JSON.stringify({ messageId, traceId: "t", error });
    const { url } = await nodeThat(() => ({ text }));
    const people = await commandLine(["call", "c", "--url", url]);
    expect(people.code).toBe(1);
    expect(people.out).toBe("");
    expect(people.err).toBe("error: no such order\n       AGENT_ERROR · it was executed\n");
    expect(await commandLine(["call", "c", "--url", url, "--json"])).toEqual({ code: 1, out: `${text}\n`, err: "" });
  });

  it.each([
    ["NO_ROUTE", 404, 4],
    ["NOT_FOUND", 404, 4],
    ["TIMEOUT", 504, 5],
    ["BUSY", 503, 1],
    ["UNAVAILABLE", 503, 1],
    ["INVALID_INPUT", 422, 1],
    ["INVALID_REQUEST", 400, 2],
  ])("turns %s into an exit code of its own", async (code, status, exit) => {
    const { url } = await nodeThat(() => ({
      status,
      text: JSON.stringify({ code, message: `[${code}] said the node`, retryable: false, outcome: "not_executed" }),
    }));
    const answer = await commandLine(["call", "c", "--url", url, "--json"]);
    expect(answer.code).toBe(exit);
    expect(JSON.parse(answer.out).error).toMatchObject({ code, message: `[${code}] said the node` });
  });

  it("exits with 3 when no node is there, with the remedy", async () => {
    const { url } = await nodeThat(() => ({ text: "{}" }));
    await new Promise((resolve) => server!.close(resolve));
    const { code, err } = await commandLine(["call", "c", "--url", url]);
    expect(code).toBe(3);
    expect(err).toContain(`cannot reach the node at ${url}`);
    expect(err).toContain("agent-reach serve");
    expect(err).not.toContain("    at ");
  });

  it.each([
    [["call"], "capability"],
    [["call", "c", "{bad"], "not JSON"],
    [["call", "c", "@/nowhere/x.json"], "cannot be read"],
    [["call", "c", "--timeout", "5"], "5s or 5ms"],
    [["call", "c", "--timeout", "1h"], "agent-reach submit"],
    [["call", "c", "--nope"], "unknown option '--nope'"],
    [["agentss"], "Did you mean agents?"],
    [["dead"], ""],
    [["dead", "discard"], "--all"],
    [["dead", "requeue", messageId, "--all"], "not both"],
    [["discover"], "what to look for"],
    [["tasks", "--since", "yesterday"], "2h"],
    [["agents", "--url", "ftp://x"], "http://"],
  ])("exits with 2 for %j", async (argv, part) => {
    const { code, out, err } = await commandLine(argv);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain(part);
  });

  it("says wrong usage as JSON too", async () => {
    const { code, out, err } = await commandLine(["call", "c", "--nope", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(out).error.code).toBe("INVALID_REQUEST");
    expect(err).toBe("");
  });
});

describe("agent-reach submit and task", () => {
  it("prints the id alone on stdout, for scripts", async () => {
    const { url, seen } = await nodeThat(() => ({
      text: `{"messageId":"${messageId}","traceId":"t","state":"queued","duplicate":false}`,
    }));
    const { code, out } = await commandLine([
      "submit",
      "ship",
      "{}",
      "--url",
      url,
      "--key",
      "k",
      "--group",
      "g",
      "--deadline",
      "1h",
      "--at-most-once",
    ]);
    expect(code).toBe(0);
    expect(out).toBe(`${messageId}\n`);
    expect(JSON.parse(seen[0]!.body)).toEqual({
      capability: "ship",
      groupId: "g",
      idempotencyKey: "k",
      deadlineMs: 3_600_000,
      delivery: "atMostOnce",
      input: {},
    });
  });

  it("asks again until the task is settled, and prints its data", async () => {
    let asked = 0;
    const { url, seen } = await nodeThat(({ method }) => {
      if (method === "POST")
        return { text: `{"messageId":"${messageId}","traceId":"t","state":"queued","duplicate":false}` };
      return {
        text: ++asked < 3 ? settled("working") : settled("completed", { agentId: "a" }).replace(/}$/, ',"data":1.0}'),
      };
    });
    const { code, out } = await commandLine(["submit", "ship", "--wait", "--url", url]);
    expect(code).toBe(0);
    expect(out).toBe("1.0\n");
    expect(seen.filter(({ path }) => path.startsWith(`/v1/tasks/${messageId}?waitMs=`))).toHaveLength(3);
  });

  it.each([
    ["completed", {}, 0],
    ["failed", { error: { code: "AGENT_ERROR", message: "no", retryable: false, outcome: "executed" } }, 1],
    ["dead", { error: { code: "NEWER_CODE", message: "no", retryable: false, outcome: "unknown" } }, 1],
    ["canceled", {}, 1],
    ["stalled", {}, 5],
  ])("ends a wait for a %s task (%j) with %i", async (state, more, exit) => {
    const { url } = await nodeThat(({ method }) => ({
      text: method === "POST" ? `{"messageId":"${messageId}"}` : settled(state, more),
    }));
    expect((await commandLine(["submit", "c", "--wait", "--url", url])).code).toBe(exit);
    expect((await commandLine(["task", messageId, "--wait", "--url", url])).code).toBe(exit);
    expect((await commandLine(["task", "--wait", messageId, "--url", url])).code).toBe(exit);
    expect((await commandLine(["submit", "c", "--wait", '{"order_id":7}', "--url", url])).code).toBe(exit);
    expect((await commandLine(["task", messageId, "--url", url])).code).toBe(0);
  });

  it("T04: ends a wait that took too long with 5, naming how to go on", async () => {
    const { url } = await nodeThat(({ method }) => ({
      text: method === "POST" ? `{"messageId":"${messageId}"}` : settled("working"),
    }));
    const { code, err } = await commandLine(["submit", "c", "--wait", "150ms", "--url", url]);
    expect(code).toBe(5);
    expect(err).toContain(`agent-reach task ${messageId} --wait`);
  });
});

describe("agent-reach discover", () => {
  it.each([
    [["query_order"], { capability: "query_order" }],
    [["where", "is", "my", "order"], { intent: "where is my order" }],
    [["查订单"], { intent: "查订单" }],
    [
      ["--tag", "a", "--tag", "b/c", "--label", "region=cn=1", "--within", "2s", "--top", "5"],
      { tags: ["a", "b/c"], labels: { region: "cn=1" }, maxLatencyMs: 2000, topK: 5 },
    ],
  ])("asks %j as %j, and exits with 4 when nobody is found", async (argv, query) => {
    const { url, seen } = await nodeThat(() => ({
      text: '{"candidates":[],"verdict":"no_match","misses":[],"decisionId":"d"}',
    }));
    const { code, out } = await commandLine(["discover", ...argv, "--url", url]);
    expect(JSON.parse(seen[0]!.body)).toEqual(query);
    expect(code).toBe(4);
    expect(out).toContain("Nobody offers this.");
  });
});

describe("agent-reach agents and tasks", () => {
  it("fetch all pages", async () => {
    const { url, seen } = await nodeThat(({ path }) => ({
      text: path.includes("cursor=") ? '{"agents":[]}' : '{"agents":[],"cursor":"c 1"}',
    }));
    expect(await commandLine(["agents", "--json", "--url", url])).toMatchObject({ code: 0, out: '{"agents":[]}\n' });
    expect(seen.map(({ path }) => path)).toEqual(["/v1/agents?limit=500", "/v1/agents?limit=500&cursor=c+1"]);
  });

  it("stop at the limit", async () => {
    const { url, seen } = await nodeThat(() => ({ text: `{"tasks":[${settled("queued")}],"cursor":"c"}` }));
    const { err } = await commandLine(["tasks", "--limit", "1", "--state", "queued", "--url", url]);
    expect(seen.map(({ path }) => path)).toEqual(["/v1/tasks?state=queued&limit=1"]);
    expect(err).toContain("there are more");
  });
});

describe("agent-reach watch", () => {
  it("prints one line per event and ends after --count", async () => {
    const stream = [1, 2, 3]
      .map(
        (id) =>
          `id: ${id}\ndata: {"id":${id},"at":"2026-11-29T10:00:00Z","type":"${id === 2 ? "task.queued" : "instance.online"}","big":9007199254740993}\n\n`,
      )
      .join("");
    const { url } = await nodeThat(() => ({ text: stream }));
    const { code, out } = await commandLine(["watch", "--json", "--type", "instance", "--count", "2", "--url", url]);
    expect(code).toBe(0);
    expect(out.trim().split("\n")).toEqual(
      [1, 3].map((id) => `{"id":${id},"at":"2026-11-29T10:00:00Z","type":"instance.online","big":9007199254740993}`),
    );
  });
});

describe("agent-reach --help", () => {
  const commands = [
    "serve",
    "config",
    "demo",
    "agents",
    "agent",
    "discover",
    "watch",
    "cards",
    "eval",
    "call",
    "submit",
    "tasks",
    "task",
    "trace",
    "why",
    "why-not",
    "queues",
    "dead",
    "version",
  ];

  it("lists the commands and the exit codes", async () => {
    const { code, out } = await commandLine(["--help"]);
    expect(code).toBe(0);
    for (const command of commands) expect(out).toMatch(new RegExp(`^ {2}${command} `, "m"));
    expect(out).toContain("3  the node cannot be reached");
  });

  it.each(commands)("has an example for %s, by `help` as by `--help`", async (command) => {
    const { code, out } = await commandLine([command, "--help"]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`\\$ (.* )?agent-reach ${command}\\b`));
    expect((await commandLine(["help", command])).out).toBe(out);
  });
});

describe("groups", () => {
  const group = JSON.stringify({ groupId: "friday", total: 3, settled: false, counts: { queued: 1, completed: 2 } });

  it("shows how many tasks are in which state, after it did what was asked for", async () => {
    const { url, seen } = await nodeThat(({ path }) => ({ text: path.endsWith("cancel") ? '{"canceled":1}' : group }));
    const shown = await commandLine(["group", "friday", "--url", url]);
    expect(shown.out).toMatch(/total\s+3[\s\S]*Counts[\s\S]*completed\s+2/);
    const canceled = await commandLine(["group", "friday", "--cancel", "--reason", "enough", "--url", url, "--json"]);
    expect(JSON.parse(canceled.out)).toEqual({ canceled: 1, ...JSON.parse(group) });
    expect(seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["GET", "/v1/groups/friday", ""],
      ["POST", "/v1/groups/friday/cancel", '{"reason":"enough"}'],
      ["GET", "/v1/groups/friday", ""],
    ]);
    expect(await commandLine(["group", "friday", "--cancel", "--requeue", "--url", url])).toMatchObject({ code: 2 });
  });

  it("are made by a publish, whose input goes as it is written", async () => {
    const { url, seen } = await nodeThat(() => ({ text: '{"groupId":"g-1","deliveries":2}' }));
    const published = await commandLine(["publish", "news", '{"id":12345678901234567890}', "--url", url]);
    expect(published).toMatchObject({ code: 0, out: "g-1\n", err: expect.stringContaining("for 2 agents") });
    await commandLine(["publish", "reload", "--capability", "--group", "tonight", "--url", url]);
    expect(seen.map(({ body }) => body)).toEqual([
      '{"topic":"news","input":{"id":12345678901234567890}}',
      '{"capability":"reload","groupId":"tonight","input":{}}',
    ]);
  });

  it("are none if nobody listens, which is said and is no error", async () => {
    const { url } = await nodeThat(() => ({ text: '{"groupId":"g-1","deliveries":0}' }));
    const published = await commandLine(["publish", "news", "--url", url]);
    expect(published).toMatchObject({ code: 0, out: "g-1\n", err: "for nobody: no agent subscribes to news\n" });
  });
});
