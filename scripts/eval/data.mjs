// The sets that are measured: what is loaded, and which rows of the table come of it, with what is wanted there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const devFolder = fileURLToPath(new URL("../../tools/embedder/dev/", import.meta.url));
export const EXAMPLES = 5;
/** Sizes to which catalogs are padded. */
export const PADDED = 10_000;
export const SIZES = [150, 10_000, 100_000];

/** What is wanted in the box, and with a better embedder for a second look. */
const atLeast = (figure, wanted, wantedFine) => ({ figure, unit: "%", wanted, wantedFine, better: "more" });
const atMost = (figure, wanted, unit) => ({ figure, unit, wanted, better: "less" });
const noted = (figure, unit = "%") => ({ figure, unit });

/**
 * `kind` says how it is measured (measure.mjs), `rows` which of the figures are shown and what is wanted of them, `padded` fills
 * a catalog up with other cards.
 */
export function setsOf(folder, dev) {
  const routing = (file) => shaped(read(folder, file), dev);
  const distractors = (count, cards) => operations(read(folder, "aws-ops-distractors"), count, cards);
  const sets = [
    {
      name: "clinc",
      kind: "routing",
      load: () => routing("clinc"),
      padded: distractors,
      rows: {
        "CLINC150 top-1": noted("top1"),
        "CLINC150 top-3": atLeast("top3", 94, 96),
        "CLINC150 top-3, padded to 10,000": atLeast("top3Padded", 89, 93),
        "CLINC150 out of scope, rejected at 90 % accepted": atLeast("rejectedAt90", 76, 85),
        "CLINC150 accepted by the catalog's own threshold": noted("acceptedAtThreshold"),
        "CLINC150 out of scope, rejected by the catalog's own threshold": noted("rejectedAtThreshold"),
      },
    },
    {
      name: "metatool",
      kind: "routing",
      load: () => routing("metatool"),
      rows: { "MetaTool top-1": noted("top1"), "MetaTool top-3": atLeast("top3", 83, 86) },
    },
  ];
  if (dev) return [...sets, ...developed()];
  return [
    ...sets,
    {
      name: "xsid",
      kind: "routing",
      load: () => routing("xsid_zh2en"),
      rows: {
        "xSID zh → en card, top-1": atLeast("top1", 66, 85),
        "xSID zh → en card, top-3": atLeast("top3", 89, 95),
      },
    },
    ...[
      ["ops_zh2zh", "zh", 80, 85],
      ["ops_en2en", "en", 65, 75],
      ["ops_zh2en", "zh → en card", 60, 75],
    ].map(([file, what, wanted, wantedFine]) => ({
      name: "ops",
      kind: "routing",
      load: () => routing(file),
      rows: { [`operations grid ${what}, top-1`]: atLeast("top1", wanted, wantedFine) },
    })),
    {
      name: "traditional",
      kind: "traditional",
      load: () => [routing("ops_zh2zh"), routing("xsid_zh2en")],
      rows: { "Traditional against Simplified, top-1, largest difference": atMost("difference", 1, "points") },
    },
    {
      name: "speed",
      kind: "speed",
      padded: distractors,
      load: () => routing("clinc"),
      rows: {
        "a query, p50, 150 capabilities": noted("p50 of 150", "ms"),
        "a query, p95, 150 capabilities": atMost("p95 of 150", 1, "ms"),
        "a query, p50, 10,000 capabilities": noted("p50 of 10000", "ms"),
        "a query, p95, 10,000 capabilities": atMost("p95 of 10000", 8, "ms"),
        "a query, p50, 100,000 capabilities": noted("p50 of 100000", "ms"),
        "a query, p95, 100,000 capabilities": atMost("p95 of 100000", 40, "ms"),
      },
    },
    {
      name: "fresh",
      kind: "fresh",
      load: () => routing("clinc"),
      rows: { "a query that was never asked before, p50, 150 capabilities": noted("p50Ms", "ms") },
    },
    {
      name: "embedder",
      kind: "embedder",
      load: () => undefined,
      rows: {
        "load of the embedder": atMost("loadMs", 200, "ms"),
        "memory of the embedder": atMost("memoryMb", 60, "MB"),
      },
    },
  ];
}

/** Our own sets, written for tuning; what is wanted of them is what the issue wants of sets like them. */
function developed() {
  return [
    {
      name: "office",
      kind: "routing",
      load: office,
      rows: {
        "office top-1": atLeast("top1", 60, 78),
        "office top-3": atLeast("top3", 80, 93),
        "office unserved, rejected at 90 % accepted": atLeast("rejectedAt90", 70),
        "office accepted by the catalog's own threshold": noted("acceptedAtThreshold"),
        "office unserved, rejected by the catalog's own threshold": noted("rejectedAtThreshold"),
      },
    },
    {
      name: "fine",
      kind: "routing",
      load: () => shaped(read(devFolder, "fine"), true),
      rows: { "fine top-1": atLeast("top1", 73), "fine top-3": atLeast("top3", 89) },
    },
  ];
}

function read(folder, file) {
  return JSON.parse(readFileSync(join(folder, `${file}.json`), "utf8"));
}

/** Cards as they would be registered, and labelled queries. */
function shaped({ caps, pool, q, dev: dq, oos, oosDev }, dev) {
  const nameOf = unique(caps);
  const cards = caps.map((cap) => cardOf(cap, nameOf.get(cap.id), (pool[cap.id] ?? []).slice(0, EXAMPLES)));
  const served = (dev ? dq : q).map(({ t, y }) => ({ text: t, expect: nameOf.get(y) }));
  const unserved = ((dev ? oosDev : oos) ?? []).map((text) => ({ text, expect: null }));
  return { cards, queries: [...served, ...unserved] };
}

function office() {
  const cards = read(devFolder, "cards");
  const lines = readFileSync(join(devFolder, "requests.jsonl"), "utf8").trim().split("\n");
  return {
    cards: cards.map((card) => ({ ...card, examples: card.examples.slice(0, EXAMPLES) })),
    queries: lines.map((line) => JSON.parse(line)),
  };
}

/** So many real API operations as cards, from the first on; beyond the list's end again, as other versions of the same. */
function operations(all, count, cards) {
  const used = new Set(cards.map(({ name }) => name));
  return Array.from({ length: count }, (_, i) => {
    const cap = all[i % all.length];
    const round = Math.floor(i / all.length);
    const name = free(used, round === 0 ? cap.name : `${cap.name} v${round + 1}`, cap.tags[0]);
    return cardOf(cap, name, []);
  });
}

function cardOf({ description, operation, objectType, tags }, name, examples) {
  // An empty text says as little as none.
  return { name, description, operation: operation || undefined, objectType: objectType || undefined, tags, examples };
}

/** Names tell capabilities apart in a catalog, so of two that are called the same one is called otherwise. */
function unique(caps) {
  const used = new Set();
  return new Map(caps.map(({ id, name, tags }) => [id, free(used, name, tags[0])]));
}

function free(used, name, more) {
  let found = name;
  if (used.has(found)) found = `${name} ${more}`;
  for (let n = 2; used.has(found); n++) found = `${name} ${more} ${n}`;
  used.add(found);
  return found;
}
