import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importsOf, root, type Source, sources, withoutComments } from "./kit/sources.js";

/** The house of ARCHITECTURE.md, held to its drawing: imports point down or right. */
const shipped = (path: string): boolean => !/\.test\.ts$|\/conformance\//.test(path);
const packages = ["protocol", "embedder-static", "sdk", "server", "cli"] as const;
const everything = packages.flatMap((name) => sources(`packages/${name}/src`, shipped));
const server = everything.filter((source) => source.path.startsWith("packages/server/src/"));

/** The rooms of the server, and what each may see besides itself, the protocol and what everyone may see. */
const forEveryone = ["ports", "time", "json", "collections"];
const mayImport: Record<string, readonly string[]> = {
  ports: [],
  time: ["ports"],
  json: [],
  collections: [],
  journal: [],
  access: ["journal"],
  registry: ["journal", "access"],
  catalog: ["registry", "journal", "access"],
  router: ["catalog", "registry", "journal", "access"],
  tasks: ["router", "catalog", "registry", "journal", "access"],
  telemetry: ["tasks", "router", "catalog", "registry", "journal", "access"],
  connectors: ["tasks", "router", "catalog", "registry", "journal", "access", "telemetry"],
  gateway: ["connectors", "tasks", "router", "catalog", "registry", "journal", "access", "telemetry"],
  engines: [],
  config: [],
};
/** Rooms decide; they hold no socket and no file. */
const rooms = ["ports", "time", "json", "collections", "journal", "access", "registry", "catalog", "router", "tasks"];
const outside =
  /^(node:(net|http|https|http2|tls|dgram|dns|fs|fs\/promises|child_process|worker_threads|cluster|os|process)|ws|undici|fastify|@photostructure\/sqlite)$/;

const roomOf = (path: string): string | undefined => /^packages\/server\/src\/([^/]+)\//.exec(path)?.[1];
const packageOf = (specifier: string): string | undefined =>
  /^@agent-reach\/([\w-]+)/.exec(specifier)?.[1] ?? (/^agent-reach(\/|$)/.test(specifier) ? "cli" : undefined);

/** Each import of each file that breaks the rule, as a line to read. */
function broken(
  files: readonly Source[],
  rule: (source: Source, specifier: string, target: string | undefined) => boolean,
): string[] {
  return files.flatMap((source) =>
    source.imports
      .filter(({ specifier, target }) => rule(source, specifier, target))
      .map(({ specifier }) => `${source.path} imports ${specifier}`),
  );
}

describe("packages", () => {
  const sees: Record<(typeof packages)[number], readonly string[]> = {
    protocol: ["protocol"],
    "embedder-static": ["embedder-static"],
    sdk: ["sdk", "protocol"],
    server: ["server", "protocol", "embedder-static"],
    cli: ["cli", "server", "sdk", "protocol", "embedder-static"],
  };

  test.each(packages)("%s sees only the packages below it", (name) => {
    const own = everything.filter((source) => source.path.startsWith(`packages/${name}/`));
    expect(own.length).toBeGreaterThan(0);
    expect(
      broken(own, (_source, specifier) => {
        const other = packageOf(specifier);
        return other !== undefined && !sees[name].includes(other);
      }),
    ).toEqual([]);
  });

  test("relative imports stay inside of their package", () => {
    expect(
      broken(
        everything,
        (source, _specifier, target) =>
          target !== undefined && !target.startsWith(source.path.split("/").slice(0, 3).join("/")),
      ),
    ).toEqual([]);
  });

  test("protocol and the browser's part of the sdk know no Node", () => {
    const anywhere = everything.filter(
      ({ path }) =>
        path.startsWith("packages/protocol/") ||
        (path.startsWith("packages/sdk/src/") && !/^packages\/sdk\/src\/(node\.ts|node\/)/.test(path)),
    );
    expect(broken(anywhere, (_source, specifier) => specifier.startsWith("node:") || specifier === "ws")).toEqual([]);
  });
});

describe("the server's floors", () => {
  test("every folder of the server has its place in the drawing", () => {
    const found = new Set(server.map(({ path }) => roomOf(path)).filter((room) => room !== undefined));
    expect([...found].filter((room) => mayImport[room] === undefined)).toEqual([]);
    for (const room of ["ports", "registry", "catalog", "router", "tasks", "journal", "access", "gateway", "engines"])
      expect(found).toContain(room);
  });

  test("imports point down or right", () => {
    expect(
      broken(server, (source, _specifier, target) => {
        const [from, to] = [roomOf(source.path), target === undefined ? undefined : roomOf(target)];
        if (from === undefined || to === undefined || from === to) return false;
        return !forEveryone.includes(to) && !mayImport[from]!.includes(to);
      }),
    ).toEqual([]);
  });

  test("nobody imports the engines or the door but compose.ts and house.ts, and what opens the catalog's: readers.ts, synonyms.ts and catalog.ts", () => {
    expect(
      broken(server, (source, _specifier, target) => {
        const to = target === undefined ? undefined : roomOf(target);
        return (
          (to === "engines" || to === "gateway") &&
          roomOf(source.path) !== to &&
          !["catalog.ts", "compose.ts", "house.ts", "readers.ts", "synonyms.ts"]
            .map((file) => `packages/server/src/${file}`)
            .includes(source.path)
        );
      }),
    ).toEqual([]);
  });

  test.each([
    ["compose.ts", "index.ts"],
    ["house.ts", "compose.ts"],
    ["connect.ts", "house.ts"],
    ["readers.ts", "compose.ts"],
  ])("%s, which sees the rooms from above, is imported by %s alone", (above, importer) => {
    const at = (file: string): string => `packages/server/src/${file}`;
    const imports = (path: string) => server.find((source) => source.path === path)!.imports;
    expect(imports(at(importer)).map(({ target }) => target)).toContain(at(above));
    expect(
      broken(server, (source, _specifier, target) => target === at(above) && source.path !== at(importer)),
    ).toEqual([]);
  });

  test("ARCHITECTURE.md speaks of every folder", () => {
    const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    const picture = text.slice(text.indexOf("## The picture"), text.indexOf("Rules, each held by the test"));
    const folders = new Set(server.map(({ path }) => roomOf(path)).filter((room) => room !== undefined));
    expect([...folders].filter((folder) => !text.includes(`\`${folder}/`))).toEqual([]);
    // Settings and measurements are no floor of their own, so they are not drawn.
    const drawn = [...folders].filter((folder) => folder !== "config" && folder !== "telemetry");
    expect(drawn.filter((folder) => !picture.includes(`${folder}/`))).toEqual([]);
  });

  test("no room holds a socket or a file", () => {
    expect(
      broken(server, (source, specifier) => rooms.includes(roomOf(source.path) ?? "") && outside.test(specifier)),
    ).toEqual([]);
  });

  test("ports are interfaces: no code", () => {
    const ports = server.filter(({ path }) => roomOf(path) === "ports");
    expect(
      ports
        .filter(({ code }) =>
          /^\s*(export\s+)?(async\s+)?(function|class)\b|=>\s*\{|^\s*(export\s+)?(let|var)\b/m.test(code),
        )
        .map(({ path }) => path),
    ).toEqual([]);
  });
});

describe("time, ids and chance", () => {
  const banned: [string, RegExp][] = [
    ["the wall clock", /\bDate\.now\b|\bnew Date\(\s*\)/],
    ["the monotonic clock", /\bperformance\.now\b|\bprocess\.hrtime\b/],
    ["chance", /\bMath\.random\b/],
    ["timers", /\b(setTimeout|setInterval)\b/],
    ["ids", /\brandomUUID\b|\brandomBytes\b/],
  ];

  test.each(banned)("%s of the server come from System alone", (_name, pattern) => {
    expect(
      server
        .filter(({ path, code }) => !path.startsWith("packages/server/src/engines/os/") && pattern.test(code))
        .map(({ path }) => path),
    ).toEqual([]);
  });
});

describe("cycles", () => {
  test("no file needs itself", () => {
    const byPath = new Map(everything.map((source) => [source.path, source]));
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (path: string, trail: string[]): void => {
      const at = trail.indexOf(path);
      if (at >= 0) {
        cycles.push([...trail.slice(at), path].join(" → "));
        return;
      }
      if (done.has(path)) return;
      for (const { target, typeOnly } of byPath.get(path)?.imports ?? [])
        if (target !== undefined && !typeOnly) visit(target, [...trail, path]);
      done.add(path);
    };
    for (const { path } of everything) visit(path, []);
    expect(cycles).toEqual([]);
  });
});

describe("the reader of imports itself", () => {
  test("sees every form of import, tells types from values, and ignores comments", () => {
    const code = withoutComments(`
      import { a } from "./a.js"; // import x from "./comment.js"
      import type { B } from "../b.js";
      import { type C, type D } from "./c.js";
      export * from "./d.js";
      /* import "./no.js"; */
      import "./e.js";
      const f = await import("./f.js");
      const text = "http://not-a-comment";
      import {
        g,
        type H,
      } from "node:fs";
    `);
    const found = importsOf("packages/server/src/room/file.ts", code);
    expect(found.map(({ specifier, typeOnly }) => [specifier, typeOnly])).toEqual([
      ["./a.js", false],
      ["../b.js", true],
      ["./c.js", true],
      ["./d.js", false],
      ["node:fs", false],
      ["./e.js", false],
      ["./f.js", false],
    ]);
    expect(found[1]!.target).toBe("packages/server/src/b.ts");
  });
});
