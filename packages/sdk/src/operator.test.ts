import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ReachError } from "@agent-reach/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { normalizeUrl } from "./operator/http.js";
import { EventStreamParser } from "./operator/sse.js";
import { Operator } from "./operator.js";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** An HTTP server that answers as a node would. */
async function nodeThat(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<Operator> {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  return new Operator({ url: `127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t0ken" });
}

const refusal = (promise: Promise<unknown>): Promise<ReachError> =>
  promise.then(
    () => {
      throw new Error("expected a refusal");
    },
    (error: ReachError) => error,
  );

describe("Operator", () => {
  it("sends queries, bodies and the token where the contract has them", async () => {
    const seen: unknown[] = [];
    const operator = await nodeThat((request, response, body) => {
      seen.push([request.method, request.url, request.headers.authorization, request.headers["content-type"], body]);
      response.end("{}");
    });
    await operator.tasks({ state: "dead", group: "a b", limit: 5 });
    await operator.cancel("m1", "no longer needed");
    await operator.agentVersion("order agent", 2);
    await operator.submitMany([{ capability: "c", input: 1 }], "friday");
    await operator.publish({ topic: "news", input: 1 });
    await operator.group("a/b");
    await operator.cancelGroup("g", "enough");
    await operator.requeueGroup("g");
    expect(seen).toEqual([
      ["GET", "/v1/tasks?state=dead&group=a+b&limit=5", "Bearer t0ken", undefined, ""],
      ["POST", "/v1/tasks/m1/cancel", "Bearer t0ken", "application/json", '{"reason":"no longer needed"}'],
      ["GET", "/v1/agents/order%20agent/versions/2", "Bearer t0ken", undefined, ""],
      [
        "POST",
        "/v1/groups",
        "Bearer t0ken",
        "application/json",
        '{"tasks":[{"capability":"c","input":1}],"groupId":"friday"}',
      ],
      ["POST", "/v1/publish", "Bearer t0ken", "application/json", '{"topic":"news","input":1}'],
      ["GET", "/v1/groups/a%2Fb", "Bearer t0ken", undefined, ""],
      ["POST", "/v1/groups/g/cancel", "Bearer t0ken", "application/json", '{"reason":"enough"}'],
      ["POST", "/v1/groups/g/requeue", "Bearer t0ken", "application/json", "{}"],
    ]);
  });

  it("throws the node's error with its code, outcome and retry time", async () => {
    const operator = await nodeThat((_request, response) => {
      response.statusCode = 503;
      response.end(
        JSON.stringify({
          code: "BUSY",
          message: "[BUSY] full",
          retryable: true,
          retryAfterMs: 70,
          outcome: "not_executed",
        }),
      );
    });
    const error = await refusal(operator.call({ capability: "x" }));
    expect(error).toMatchObject({
      code: "BUSY",
      retryable: true,
      retryAfterMs: 70,
      outcome: "not_executed",
      message: "[BUSY] full",
    });
  });

  it("throws AGENT_ERROR for a business error that came with status 200", async () => {
    const error = {
      code: "AGENT_ERROR",
      message: "no such order",
      retryable: false,
      outcome: "executed",
      details: { code: "NOPE" },
    };
    const operator = await nodeThat((_request, response) => {
      response.end(JSON.stringify({ messageId: "m", traceId: "t", error }));
    });
    expect(await refusal(operator.call({ capability: "x" }))).toMatchObject({
      code: "AGENT_ERROR",
      details: { code: "NOPE" },
    });
  });

  it("counts an error code that it does not know as its class says", async () => {
    const operator = await nodeThat((_request, response) => {
      response.statusCode = 400;
      response.end(JSON.stringify({ code: "NEW_ONE", message: "something", retryable: true, outcome: "unknown" }));
    });
    const error = await refusal(operator.queues());
    expect(error.retryable).toBe(true);
    expect(error.message).toContain("NEW_ONE");
  });

  it("says that nobody listens at the address, and what to do", async () => {
    const operator = await nodeThat(() => undefined);
    await new Promise((resolve) => server!.close(resolve));
    const error = await refusal(operator.submit({ capability: "x" }));
    expect(error).toMatchObject({ code: "UNAVAILABLE", outcome: "not_executed", details: { reason: "unreachable" } });
    expect(error.message).toContain(
      `cannot reach the node at ${operator.url} (ECONNREFUSED): is \`agent-reach serve\` running`,
    );
  });

  it("leaves open what became of a submit whose connection broke", async () => {
    const operator = await nodeThat((request) => request.socket.destroy());
    expect(await refusal(operator.submit({ capability: "x" }))).toMatchObject({
      code: "UNAVAILABLE",
      outcome: "unknown",
    });
  });

  it("says that something else than a node answered", async () => {
    const operator = await nodeThat((_request, response) => {
      response.statusCode = 404;
      response.end("<html>nothing here</html>");
    });
    expect((await refusal(operator.ping())).message).toContain("answered 404");
  });

  it("goes on after the last event when the event stream breaks", async () => {
    const lastIds: (string | undefined)[] = [];
    const operator = await nodeThat((request, response) => {
      const last = request.headers["last-event-id"] as string | undefined;
      lastIds.push(last);
      const next = Number(last ?? 0) + 1;
      response.setHeader("content-type", "text/event-stream");
      response.end(`: hi\n\nid: ${next}\nevent: message.arrived\ndata: {"id":${next},"type":"message.arrived"}\n\n`);
    });
    const stop = new AbortController();
    const ids: unknown[] = [];
    for await (const event of operator.events({ signal: stop.signal, reconnectMs: 1 })) {
      ids.push(event.data["id"]);
      if (ids.length === 3) stop.abort();
    }
    expect(ids).toEqual([1, 2, 3]);
    expect(lastIds.slice(0, 3)).toEqual([undefined, "1", "2"]);
  });

  it("ends the event stream with the node's refusal", async () => {
    const operator = await nodeThat((_request, response) => {
      response.statusCode = 410;
      response.end(
        JSON.stringify({ code: "REVISION_GONE", message: "list again", retryable: false, outcome: "not_executed" }),
      );
    });
    expect(await refusal(operator.events({ revision: 1 }).next())).toMatchObject({ code: "REVISION_GONE" });
  });
});

describe("addresses of a node", () => {
  it.each([
    ["http://127.0.0.1:8800", "http://127.0.0.1:8800"],
    ["http://127.0.0.1:8800/", "http://127.0.0.1:8800"],
    ["127.0.0.1:8800", "http://127.0.0.1:8800"],
    ["localhost:8800", "http://localhost:8800"],
    ["ws://h:1/registry", "http://h:1"],
    ["wss://h/registry", "https://h"],
    ["https://h/reach/", "https://h/reach"],
  ])("reads %s as %s", (given, expected) => {
    expect(normalizeUrl(given)).toBe(expected);
  });

  it.each(["", "ftp://h", "http://"])("refuses %j", (given) => {
    expect(() => normalizeUrl(given)).toThrow(ReachError);
  });
});

describe("event streams", () => {
  it("are read alike wherever the chunks are cut", () => {
    const text = ": keep\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\nevent: x\ndata:c\n\nid: 3\n\ndata: d\r\r";
    const expected = [
      { id: "1", data: "a\nb" },
      { id: "1", event: "x", data: "c" },
      { id: "3", data: "d" },
    ];
    for (let size = 1; size <= text.length; size++) {
      const parser = new EventStreamParser();
      const events = [];
      for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
      events.push(...parser.push("\n"));
      expect(events).toEqual(expected);
    }
  });
});
