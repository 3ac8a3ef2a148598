import { describe, expect, test } from "vitest";
import { ReachNode, useNode } from "../kit/node.js";
import { Wire } from "../kit/wire.js";

/** SEC-1: no page on the web may drive a local node. */
const node = useNode({
  settings: { server: { allowedOrigins: ["https://console.example.com"], allowedHosts: ["reach.internal"] } },
});
const discover = JSON.stringify({ capability: "x" });
const post = (headers: Record<string, string>, text = discover) =>
  node().http.send("POST", "/v1/discover", text, { headers });
const upgrade = (headers: Record<string, string>) => Wire.open(node().url, { headers });

describe("SEC-1: Origin", () => {
  test.each(["http://127.0.0.1:3000", "http://localhost:5173", "http://[::1]:8080", "https://console.example.com"])(
    "%s may",
    async (origin) => {
      expect((await post({ origin })).status).toBe(200);
      const wire = await upgrade({ origin });
      expect(await wire.request("ping")).toEqual({});
      wire.cut();
    },
  );

  test.each([
    "https://evil.example",
    "http://127.0.0.1.evil.example",
    "https://console.example.com.evil.example",
    "http://console.example.com",
    "null",
    "file://",
  ])("%s may not, over HTTP or WebSocket", async (origin) => {
    expect(await post({ origin })).toMatchObject({ status: 403, body: { code: "FORBIDDEN", retryable: false } });
    await expect(upgrade({ origin })).rejects.toThrow(/403/);
  });

  test("absent is a program, and may", async () => {
    expect((await post({})).status).toBe(200);
  });
});

describe("SEC-1: Host", () => {
  test("of the machine itself or listed may", async () => {
    const { port } = node();
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `reach.internal:${port}`, "reach.internal"])
      expect((await post({ host })).status).toBe(200);
  });

  test("of somebody else may not (DNS rebinding)", async () => {
    for (const host of ["evil.example", "evil.example:8800", "127.0.0.1.evil.example"]) {
      expect(await post({ host })).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
      await expect(upgrade({ host })).rejects.toThrow(/403/);
    }
  });
});

describe("SEC-1: content type", () => {
  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])(
    "%j is refused on POST",
    async (type) => {
      const { status, body } = await post({ "content-type": type });
      expect([400, 415]).toContain(status);
      expect(body).toMatchObject({ code: "INVALID_REQUEST", retryable: false });
    },
  );

  test("application/json with a charset is JSON", async () => {
    expect((await post({ "content-type": "application/json; charset=utf-8" })).status).toBe(200);
  });
});

describe("RES-7: bad bodies over HTTP", () => {
  test.each(["{", "", "nonsense", "[1]", "null", "7"])("%j is INVALID_REQUEST", async (text) => {
    expect(await post({}, text)).toMatchObject({
      status: 400,
      body: { code: "INVALID_REQUEST", outcome: "not_executed" },
    });
  });

  test("the wrong type is named by its path", async () => {
    expect(await post({}, '{"topK":"three","capability":"x"}')).toMatchObject({
      status: 400,
      body: { code: "INVALID_REQUEST", path: "topK" },
    });
  });

  test("deep nesting and huge bodies are refused, and the node goes on", async () => {
    const deep = `{"capability":"x","input":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
    expect(await post({}, deep)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
    const huge = `{"capability":"x","input":"${"x".repeat(1_200_000)}"}`;
    expect(await post({}, huge)).toMatchObject({ status: 413, body: { code: "PAYLOAD_TOO_LARGE", retryable: false } });
    expect((await node().http.get("/ping")).status).toBe(200);
  });

  test("a broken URL is refused, not a crash", async () => {
    for (const path of ["/v1/agents/%zz", "/v1/agents/%00", "/v1/tasks/..%2f..%2fetc"]) {
      const { status } = await node().http.get(path);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
  });
});

describe("SEC-1: the address it listens on", () => {
  test("another than loopback without authentication is refused at start, with the remedy", async () => {
    const { code, stderr, stdout } = await ReachNode.refusal({ args: ["--host", "0.0.0.0"] });
    expect(code).not.toBe(0);
    expect(stderr + stdout).toMatch(/insecure/);
  });
});
