import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { plainLine } from "./plain-line.js";

/** What is printed for one event, with its time blanked: that is local. */
function printed(write: (log: ReturnType<typeof pino>) => void): string {
  let text = "";
  const options = { base: { node: "node-1" }, formatters: { level: (level: string) => ({ level }) } };
  write(pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime }, { write: (json) => (text += plainLine(json)) }));
  return text.replace(/^\d\d:\d\d:\d\d\.\d{3}/, "TIME");
}

describe("OBS-3: a log line for people", () => {
  test("says when, how bad, what, and the rest by name", () => {
    expect(printed((log) => log.info({ host: "127.0.0.1", port: 8800 }, "ready"))).toBe(
      "TIME INFO  ready host=127.0.0.1 port=8800\n",
    );
  });

  test("quotes what would not stay one word", () => {
    expect(printed((log) => log.warn({ reason: "no room", list: [1], empty: "" }, "told"))).toBe(
      'TIME WARN  told reason="no room" list=[1] empty=""\n',
    );
  });

  test("shows an error with its stack, and where to look it up", () => {
    const err = Object.assign(new Error("boom"), { lookup: "id-7" });
    const lines = printed((log) => log.error({ err }, "unexpected")).split("\n");
    expect(lines[0]).toBe("TIME ERROR unexpected");
    expect(lines[1]).toBe("  Error: boom");
    expect(lines[2]).toMatch(/^ {6}at /);
    expect(lines.join("\n")).toContain("id-7");
  });

  test("survives what is thrown without being an error", () => {
    expect(printed((log) => log.error({ err: "just text" }, "unexpected"))).toBe(
      'TIME ERROR unexpected\n  "just text"\n',
    );
  });
});
