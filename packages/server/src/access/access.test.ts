import { describe, expect, test } from "vitest";
import { assertMayTouch, type Caller, checkHost, checkOrigin, isLoopback, localOperator, mayTouch } from "./access.js";

describe("SEC-1: no page on the web drives a local node", () => {
  test("a browser's origin must be loopback or listed", () => {
    for (const fine of [
      undefined,
      "http://localhost",
      "http://localhost:3000",
      "https://127.0.0.1:8443",
      "http://[::1]:5173",
      "http://127.8.9.1",
    ]) {
      expect(checkOrigin(fine, []), fine).toBeUndefined();
    }
    for (const bad of [
      "https://evil.example",
      "http://localhost.evil.example",
      "http://127.0.0.1.evil.example",
      "http://evil.example/?localhost",
      "http://localhost@evil.example",
      "null",
      "",
      "file://",
      "localhost",
    ]) {
      expect(checkOrigin(bad, []), bad).toContain("server.allowedOrigins");
    }
  });

  test("listed origins are compared whole", () => {
    const allowed = ["https://shop.example"];
    expect(checkOrigin("https://shop.example", allowed)).toBeUndefined();
    expect(checkOrigin("https://shop.example.evil.example", allowed)).toBeDefined();
    expect(checkOrigin("http://shop.example", allowed)).toBeDefined();
    expect(checkOrigin("https://any.example", ["*"])).toBeUndefined();
  });

  test("the Host header must name this node, with any port", () => {
    for (const fine of ["localhost:8800", "LOCALHOST", "127.0.0.1:8800", "[::1]:8800", "[::1]"]) {
      expect(checkHost(fine, "127.0.0.1", []), fine).toBeUndefined();
    }
    expect(checkHost("10.1.2.3:8800", "10.1.2.3", [])).toBeUndefined();
    expect(checkHost("reach.example:8800", "0.0.0.0", ["reach.example"])).toBeUndefined();
    expect(checkHost("reach.example:8800", "0.0.0.0", ["reach.example:8800"])).toBeUndefined();
    expect(checkHost("any.example", "0.0.0.0", ["*"])).toBeUndefined();
  });

  test("a name that merely resolves to this node is refused, and so is none at all", () => {
    expect(checkHost("evil.example:8800", "127.0.0.1", [])).toContain("server.allowedHosts");
    expect(checkHost("localhost.evil.example", "127.0.0.1", [])).toBeDefined();
    expect(checkHost("reach.example:8801", "0.0.0.0", ["reach.example:8800"])).toBeDefined();
    expect(checkHost(undefined, "127.0.0.1", [])).toContain("Host");
  });

  test("loopback is what it is, and nothing that begins or ends like it", () => {
    expect(["localhost", "127.0.0.1", "127.255.0.3", "::1", "[::1]"].map(isLoopback)).not.toContain(false);
    expect(["127.0.0.1.example", "xlocalhost", "0.0.0.0", "128.0.0.1", "::2", ""].map(isLoopback)).not.toContain(true);
  });
});

describe("a message belongs to its principal", () => {
  const caller = (names: string[], more: Partial<Caller> = {}): Caller => ({
    ...localOperator,
    operator: false,
    principal: names[0]!,
    principals: new Set(names),
    ...more,
  });
  const message = { tenant: "default", principal: "shop", messageId: "m1" };

  test("whoever answers or answered to its name may use it, and an operator", () => {
    expect(mayTouch(caller(["shop"]), message)).toBe(true);
    expect(mayTouch(caller(["new-name", "shop"]), message)).toBe(true);
    expect(mayTouch(localOperator, message)).toBe(true);
  });

  test("nobody else, nor an operator of another tenant", () => {
    expect(mayTouch(caller(["other"]), message)).toBe(false);
    expect(mayTouch({ ...localOperator, tenant: "elsewhere" }, message)).toBe(false);
    expect(() => assertMayTouch(caller(["other"]), message)).toThrow(/FORBIDDEN.*m1/);
    expect(() => assertMayTouch(caller(["shop"]), message)).not.toThrow();
  });
});
