import { describe, expect, test } from "vitest";
import { settings } from "../packages/server/src/config.js";
import { sources } from "./kit/sources.js";

/** Everything that runs, without the folder which only declares the settings. */
const readers = [
  ...sources("packages/server/src", (path) => !/\.test\.ts$|\/conformance\/|\/src\/config(\.ts|\/)/.test(path)),
  ...sources("packages/cli/src", (path) => !/\.test\.ts$/.test(path)),
];

/** Settings whose whole effect is inside config/, with where. */
const effectWithin: Readonly<Record<string, string>> = {
  "server.insecure": "config/rules.ts refuses an address that others can reach",
};

/**
 * Whether some code reads the setting: by its path, or by its last name where its group was handed on whole. A name that
 * is only declared (`pageMax: number`) is not read.
 */
function isRead(path: string): boolean {
  const keys = path.split(".");
  const name = keys.pop()!;
  const group = keys.join("\\.");
  const byPath = new RegExp(`\\b${group}\\.${name}\\b|\\{[^{}=]*\\b${name}\\b[^{}=]*\\} = (\\w+\\.)?${group}\\b`);
  if (readers.some(({ code }) => byPath.test(code))) return true;
  const handedOn = new RegExp(
    `\\bconfig\\.(${keys.map((_, i) => keys.slice(0, i + 1).join("\\.")).join("|")})\\b(?!\\.)`,
  );
  const byName = new RegExp(`\\.${name}\\b|\\bconst \\{[^}]*\\b${name}\\b[^}]*\\} =`);
  return (
    readers.some(({ code }) => handedOn.test(code)) &&
    readers.some(({ path: file, code }) => !file.endsWith("/compose.ts") && byName.test(code))
  );
}

describe("CLU-6: settings", () => {
  test("each one does something: there is code that reads it", () => {
    const idle = settings.map(({ path }) => path).filter((path) => effectWithin[path] === undefined && !isRead(path));
    expect(idle).toEqual([]);
  });

  test("one that nobody reads would be found", () => {
    expect(isRead("limits.moonPhaseMax")).toBe(false);
    expect(isRead("webhook.ackTimeoutMs")).toBe(false);
  });
});
