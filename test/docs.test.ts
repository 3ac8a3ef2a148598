import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorCodes } from "@agent-reach/protocol";
import { loadConfig, settings } from "@agent-reach/server";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, ReachNode } from "./kit/node.js";
import { expectations, missing, Page, roles, type Snippet, snippetsOf } from "./kit/snippets.js";
import { root } from "./kit/sources.js";

const patienceMs = 60_000;
const markdown = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `${folder}/${name}`);
const pages = ["README.md", "README.zh-CN.md", ...markdown("docs/guide")];
const python = spawnSync("python3", ["--version"]).status === 0;
/** In CI a missing Python is a failure; at home its snippets are left out, and `npm test` says so. */
const skipped = ({ language }: Snippet) => language === "python" && !python && process.env["CI"] === undefined;

describe.each(pages)("%s", (path) => {
  const snippets = snippetsOf(path);
  let node: ReachNode;
  let page: Page;
  beforeAll(async () => {
    node = await ReachNode.start({ settings: { log: { level: "silent" } } });
    page = new Page(node.port);
  });
  afterAll(async () => {
    page?.dispose();
    await node?.dispose();
  });

  test("each snippet is marked by what is done with it", () => {
    const outside = snippets.filter(({ language, role }) => roles[language]?.includes(role) !== true);
    expect(outside.map(({ at, info }) => `${at}: ${info}`)).toEqual([]);
  });

  for (const snippet of snippets) {
    const title = `${snippet.at} ${snippet.info}`;
    switch (snippet.role) {
      case "runnable":
        test.skipIf(skipped(snippet))(
          `${title} runs, and prints what it says`,
          () => page.run(snippet, patienceMs),
          patienceMs + 5_000,
        );
        break;
      case "serve":
        test(
          `${title} starts a node`,
          async () => page.serve(snippet, await freePort(), patienceMs),
          patienceMs + 5_000,
        );
        break;
      case "install":
        test(`${title} works in a fresh clone`, () => expect(strangers(snippet)).toEqual([]));
        break;
      case "card":
        test(`${title} is read as the page says`, () => registered(node, snippet));
        break;
      case "settings":
        test(`${title} is accepted`, () => accepted(page, snippet));
        break;
    }
  }
});

/** Commands which neither npm nor package.json knows. */
function strangers({ code }: Snippet): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const commands = code.split(/\n|&&/).map((line) => line.replace(/#.*$/, "").trim());
  return commands.filter((command) => {
    if (command === "" || command === "npm ci") return false;
    const name = /^npm (?:run )?([a-z]+)(?: -- .*)?$/.exec(command)?.[1];
    return name === undefined || scripts[name] === undefined;
  });
}

async function registered(node: ReachNode, { code, options }: Snippet): Promise<void> {
  const answer = await node.http.post("/v1/agents", { card: JSON.parse(code) });
  if (options["refused"] !== undefined) {
    expect(answer.body).toMatchObject({ code: "INVALID_CARD", path: options["refused"] });
    return;
  }
  expect(answer.body).toMatchObject({ version: 1 });
  const told = (answer.body.warnings as string[]).map((warning) => warning.split(":")[0]);
  expect(told).toEqual(options["warns"]?.split(",") ?? []);
  const offered = options["offers"]?.split(",");
  if (offered === undefined) return;
  const agent = await node.http.get(`/v1/agents/${answer.body.agentId}`);
  expect(agent.body.card.capabilities.map((c: { name: string }) => c.name)).toEqual(offered);
}

function accepted(page: Page, { code }: Snippet): void {
  const file = join(page.directory, "reach.yaml");
  writeFileSync(file, code);
  const { origins } = loadConfig({ file });
  expect(Object.values(origins).filter((origin) => String(origin).includes("reach.yaml")).length).toBeGreaterThan(0);
}

/** Headings are addressed as GitHub does: lower case, without punctuation, hyphens for spaces. */
function leads(from: string, link: string): boolean {
  const [target = "", anchor] = link.split("#");
  const file = target === "" ? join(root, from) : join(root, dirname(from), target);
  if (!existsSync(file)) return false;
  if (anchor === undefined) return true;
  const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm)];
  return headings.some(
    ([, text]) =>
      text!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-") === anchor,
  );
}

/** The cells of a table of moments as they must stand in the tests' titles: what, when, who, and what then happens. */
function cellsOf(table: string): string[] {
  const [head, , ...rows] = table
    .trim()
    .split("\n")
    .map((line) => line.split("|").slice(1, -1));
  const [what, ...who] = head!.map((cell) => cell.trim());
  return rows.flatMap(([moment, ...cells]) =>
    cells.flatMap((cell, column) =>
      cell.split("<br>").map((words) => `${what} ${moment!.trim()}: ${who[column]}: ${words.trim()}`),
    ),
  );
}

/** The titles of a file's tests behind those of their groups, without the requirements that these name. */
function titlesOf(file: string): string[] {
  let group = "";
  const titles: string[] = [];
  for (const [, kind, title] of readFileSync(file, "utf8").matchAll(/\b(describe|test)\(\s*"([^"]*)"/g)) {
    if (kind === "describe") group = title!.replace(/^[A-Z]+-\d+(?:, [A-Z]+-\d+)*: /, "");
    else titles.push(`${group}: ${title}`);
  }
  return titles;
}

describe("the guide as a whole", () => {
  test("every TypeScript snippet compiles as strict code", { timeout: patienceMs }, () => {
    mkdirSync(join(root, ".agent-reach"), { recursive: true });
    const folder = mkdtempSync(join(root, ".agent-reach", "docs-types-"));
    try {
      const files = pages
        .flatMap(snippetsOf)
        .filter(({ language }) => language === "ts")
        .map(({ at, code }) => {
          const file = join(folder, `${at.replace(/[^\w]+/g, "-")}.mts`);
          writeFileSync(file, `${code}\nexport {};\n`);
          return file;
        });
      expect(files.length).toBeGreaterThan(5);
      const options: ts.CompilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext,
        types: ["node"],
      };
      const found = ts.getPreEmitDiagnostics(ts.createProgram(files, options));
      expect(
        ts.formatDiagnostics(found, {
          getCanonicalFileName: (name) => name,
          getCurrentDirectory: () => folder,
          getNewLine: () => "\n",
        }),
      ).toBe("");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("the two READMEs show the same code, in the same order, under as many headings", () => {
    const [english, chinese] = ["README.md", "README.zh-CN.md"].map((path) => ({
      code: snippetsOf(path).map(({ info, code }) => ({ info, code: code.replace(/(\/\/|#)(?!\s*→).*$/gm, "$1") })),
      headings: readFileSync(join(root, path), "utf8").match(/^#+ /gm),
    }));
    expect(chinese).toEqual(english);
  });

  test("troubleshooting has one section for every code of the table, and none for others", () => {
    const text = readFileSync(join(root, "docs/guide/troubleshooting.md"), "utf8");
    const sections = [...text.matchAll(/^### `([A-Z_]+)`$/gm)].map((match) => match[1]);
    expect(sections.toSorted()).toEqual([...errorCodes].toSorted());
  });

  test("settings that the guide names exist", () => {
    const known = new Set(settings.map(({ path }) => path as string));
    const groups = new Set([...known].map((path) => path.split(".")[0]));
    const named = pages.flatMap((path) =>
      [...readFileSync(join(root, path), "utf8").matchAll(/`([a-z]+\.[a-zA-Z.]+)`/g)].map((match) => match[1]!),
    );
    const wrong = named.filter(
      (name) =>
        groups.has(name.split(".")[0]) && !known.has(name) && ![...known].some((path) => path.startsWith(`${name}.`)),
    );
    expect(
      wrong.filter(
        (name) =>
          !/^(task\.(get|result|cancel|events|update)|limits\.(maxMessageBytes|maxInputBytes|resumeSec))$/.test(name),
      ),
    ).toEqual([]);
  });

  test("what happens moment by moment is said by the names of the tests that show it, and by all of them", () => {
    const page = readFileSync(join(root, "docs/guide/guarantees.md"), "utf8");
    const tables = [...page.matchAll(/^<!-- moments: (\S+) -->\n\n((?:\|.*\n)+)/gm)];
    expect(tables).toHaveLength(2);
    for (const [, file, table] of tables) expect(cellsOf(table!)).toEqual(titlesOf(join(root, file!)));
  });

  test("links within the repository lead to a page, and to a heading of it", () => {
    const all = [...pages, "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    const broken = [...all, ...markdown("docs/adr"), ...markdown("docs/reference"), "examples/README.md"].flatMap(
      (path) =>
        [...readFileSync(join(root, path), "utf8").matchAll(/\]\(([^)\s]+)\)/g)]
          .map((match) => match[1]!)
          .filter((link) => !/^[a-z]+:/.test(link) && !leads(path, link))
          .map((link) => `${path} → ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test("generated pages are up to date", () => {
    const stale = spawnSync(process.execPath, [join(root, "scripts/errors-page.mjs"), "--check"], { encoding: "utf8" });
    expect(stale.status, stale.stdout + stale.stderr).toBe(0);
  });
});

describe("the reader of snippets itself", () => {
  test("finds what a program says that it prints, in either comment style", () => {
    expect(expectations("a() // → one\n# → two …\n// three\n")).toEqual(["one", "two …"]);
  });

  test("wants each line in its order, lets … stand for anything, and does not mind line breaks", () => {
    const output = "{\n  text: 'Hello' }\nthen 0199 done\n";
    expect(missing(output, ["{ text: 'Hello' }", "then … done"])).toBeUndefined();
    expect(missing(output, ["then … done", "{ text: 'Hello' }"])).toBe("{ text: 'Hello' }");
    expect(missing(output, ["{ text: 'Bye' }"])).toBe("{ text: 'Bye' }");
  });
});
