import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { commandLine } from "../../../../test/kit/command-line.js";

const home = mkdtempSync(join(tmpdir(), "agent-reach-eval-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

function file(name: string, content: string | object): string {
  const path = join(home, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const cards = file("cards.json", [
  {
    name: "track_parcel",
    description: "Where a parcel is now",
    operation: "status",
    examples: ["where is my parcel", "has the parcel left the depot"],
  },
  {
    name: "cancel_booking",
    description: "Cancels a booking",
    operation: "cancel",
    examples: ["cancel my booking", "i do not need the booking any more"],
  },
  { name: "translate_text", description: "Translates a text into another language", examples: [] },
]);
const queries = file(
  "queries.jsonl",
  [
    '{"text":"where is my parcel now","expect":"track_parcel"}',
    '{"text":"please cancel the booking for tomorrow","expect":"cancel_booking"}',
    '{"text":"has the parcel left yet","expect":"cancel_booking"}',
    '{"text":"zzyzx qwrtp","expect":null}',
  ].join("\n"),
);

describe("CAT-9: agent-reach eval", () => {
  it("asks the cards of a file without any node, and answers the figures as JSON", async () => {
    const { code, out, err } = await commandLine(["eval", queries, "--cards", cards, "--json"], {
      env: { AGENT_REACH_URL: "http://127.0.0.1:9" },
    });
    expect(err).toBe("");
    expect(code).toBe(0);
    const result = JSON.parse(out);
    expect(result).toMatchObject({ served: 3, unserved: 1, rejectedAtThreshold: 1 });
    expect(result.top1).toBeCloseTo(2 / 3, 3);
    expect(result.confusions).toContainEqual({
      expected: "cancel_booking",
      got: "track_parcel",
      count: 1,
      texts: ["has the parcel left yet"],
    });
    expect(result.suggestions[0]).toContain('"translate_text" has no examples');
    expect(result.p95Ms).toBeGreaterThan(0);
  });

  it("shows the same as a table to people", async () => {
    const { out } = await commandLine(["eval", queries, "--cards", cards]);
    expect(out).toMatch(/queries +3 served, 1 unserved/);
    expect(out).toMatch(/top-1 +66\.7 %/);
    expect(out).toMatch(/cancel_booking +track_parcel +1 +has the parcel left yet/);
    expect(out).toContain('Suggestions\n- "translate_text" has no examples');
  });

  it("reads queries from standard input", async () => {
    const stdin = async () => '{"text":"where is my parcel","expect":"track_parcel"}\n';
    const { code, out } = await commandLine(["eval", "-", "--cards", cards, "--json"], { stdin });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ served: 1, top1: 1, rejectedAt90: null });
  });

  it("stops when it is told to", async () => {
    const stop = new AbortController();
    stop.abort();
    const many = file("many.jsonl", '{"text":"where is it","expect":"track_parcel"}\n'.repeat(100));
    expect((await commandLine(["eval", many, "--cards", cards], { signal: stop.signal })).code).toBe(130);
  });

  it.each([
    ["a bad line", ["eval", file("bad.jsonl", '{"text":"x"}'), "--cards", cards], /bad\.jsonl:1: expect is missing/],
    ["a missing file", ["eval", join(home, "nowhere.jsonl")], /nowhere\.jsonl cannot be read \(ENOENT\)/],
    [
      "a bad card",
      ["eval", queries, "--cards", file("bad.json", [{ name: "" }])],
      /bad\.json: \[0\]\.name must not be empty/,
    ],
    ["no file at all", ["eval"], /missing required argument 'queries'/],
  ])("exits with 2 for %s", async (_what, argv, message) => {
    const { code, out, err } = await commandLine(argv);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toMatch(message);
  });

  it("exits with 3 when no node is there to ask", async () => {
    expect((await commandLine(["eval", queries, "--url", "http://127.0.0.1:9"])).code).toBe(3);
  });
});

describe("REG-12: agent-reach cards lint", () => {
  it("says what a node would refuse, with the path, and exits with 1", async () => {
    const path = file("refused.json", [{ agentId: "a", capabilities: [{ name: "x", tags: 1 }] }]);
    const { code, out } = await commandLine(["cards", "lint", path]);
    expect(code).toBe(1);
    expect(out).toContain("error: [0].capabilities[0].tags must be an array, not a number.");
    expect(out).toContain("0 capabilities, 1 error, 0 warnings");
  });

  it("warns of what would keep capabilities from being found, where it stands in the file, and exits with 0", async () => {
    const path = file("warned.json", [
      {
        agentId: "shop",
        capabilities: [
          { name: "cancel_order", description: "Cancels an order", examples: ["cancel order 7"], idempotent: true },
          {
            name: "refund",
            description: "Pays back",
            examples: ["money back", "please cancel order 9"],
            idempotent: true,
          },
          { name: "ship", description: "Sends goods", idempotent: true },
        ],
      },
    ]);
    const { code, out } = await commandLine(["cards", "lint", path, "--json"]);
    expect(code).toBe(0);
    const { capabilities, errors, warnings } = JSON.parse(out);
    expect(capabilities).toBe(3);
    expect(errors).toEqual([]);
    expect(warnings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          rule: "exampleShared",
          path: "[0].capabilities[1].examples[1]",
          other: "cancel_order",
        }),
        expect.objectContaining({ rule: "examplesMissing", path: "[0].capabilities[2].examples" }),
      ]),
    );
  });

  it("passes on what the node would answer to the card itself", async () => {
    const path = file("silent.json", {
      agentId: "a",
      capabilities: [{ name: "add", description: "x", examples: ["one and one"] }],
    });
    expect((await commandLine(["cards", "lint", path])).out).toContain("warning: idempotent: not said for add");
  });

  it("exits with 2 when the file is no JSON", async () => {
    const { code, err } = await commandLine(["cards", "lint", file("no.json", "{")]);
    expect(code).toBe(2);
    expect(err).toContain("no.json is not JSON");
  });
});
