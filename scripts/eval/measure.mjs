// Measures one set with one setting: answers each of the set's rows with its value, shares in percent.
import { execFileSync } from "node:child_process";
import { Converter } from "opencc-js";
import { evaluate } from "../../packages/server/dist/catalog.js";
import { PADDED, SIZES } from "./data.mjs";

/** Queries that are timed at each size, after some that are not. */
const TIMED = 1_000;
const WARM = 100;
/** Queries that nobody can have kept an embedding of. */
const FRESH = 60;

const kinds = { routing, traditional, speed, fresh, embedder };

export async function measure(set, setting, say) {
  const figures = await kinds[set.kind](set, setting, say);
  return Object.entries(set.rows).map(([row, { figure, ...rest }]) => {
    const value = figures[figure] ?? null;
    return { row, ...rest, value: rest.unit === "%" && value !== null ? value * 100 : value };
  });
}

async function routing(set, setting, say) {
  const data = set.load();
  const figures = await evaluated(data, setting, (text) => say(`${set.name}: ${text}`));
  let padded;
  if (set.padded !== undefined) {
    const cards = [...data.cards, ...set.padded(PADDED - data.cards.length, data.cards)];
    const queries = data.queries.filter(({ expect }) => expect !== null);
    padded = await evaluated({ cards, queries }, setting, (text) => say(`${set.name}, padded: ${text}`));
  }
  return { ...figures, top3Padded: padded?.top3 };
}

/** The same requests in Traditional characters must find the same, whatever is folded where. */
async function traditional(set, setting, say) {
  const traditionally = Converter({ from: "cn", to: "t" });
  const differences = [];
  for (const data of set.load()) {
    const other = { ...data, queries: data.queries.map((query) => ({ ...query, text: traditionally(query.text) })) };
    const plain = await evaluated(data, setting, (text) => say(`Simplified: ${text}`));
    const turned = await evaluated(other, setting, (text) => say(`Traditional: ${text}`));
    differences.push(Math.abs(plain.top1 - turned.top1));
  }
  return { difference: Math.max(...differences) * 100 };
}

async function speed(set, setting, say) {
  const { cards, queries } = set.load();
  const times = {};
  for (const size of SIZES) {
    const finder = await filled([...cards, ...set.padded(size - cards.length, cards)], setting, (text) =>
      say(`${size} capabilities: ${text}`),
    );
    for (const { text } of queries.slice(0, WARM)) await finder.ask(text, 3);
    const timed = queries.slice(WARM, WARM + TIMED);
    const { p50Ms, p95Ms } = await evaluate(timed, (text) => finder.ask(text, 3), clock());
    times[`p50 of ${size}`] = p50Ms;
    times[`p95 of ${size}`] = p95Ms;
  }
  return times;
}

async function fresh(set, setting, say) {
  const { cards, queries } = set.load();
  const now = Date.now();
  const unheard = queries.slice(0, FRESH).map(({ text, expect }, i) => ({ text: `${text} ${now + i}`, expect }));
  const { p50Ms } = await evaluated({ cards, queries: unheard }, setting, (text) => say(`never asked before: ${text}`));
  return { p50Ms };
}

/** In a process of its own, so that nothing else is loaded yet. */
function embedder(_set, _setting, say) {
  say("loading the embedder");
  const program = `
    const { openStaticEmbedder } = await import(${JSON.stringify(new URL("../../packages/embedder-static/dist/index.js", import.meta.url).href)});
    gc();
    const before = process.memoryUsage().rss;
    const startedAt = performance.now();
    const embedder = await openStaticEmbedder();
    embedder.embedOne("where is my order 我的订单在哪");
    const tookMs = performance.now() - startedAt;
    gc();
    console.log(JSON.stringify({ loadMs: tookMs, memoryMb: (process.memoryUsage().rss - before) / 2 ** 20 }));
  `;
  const said = execFileSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", program]);
  return JSON.parse(said);
}

async function evaluated({ cards, queries }, setting, say) {
  const finder = await filled(cards, setting, say);
  const evaluation = await evaluate(queries, (text) => finder.ask(text, 3), {
    ...clock(),
    progress: (done, of) => {
      if (done % 500 === 0 || done === of) say(`${done} of ${of} queries`);
    },
  });
  finder.close?.();
  return evaluation;
}

async function filled(cards, setting, say) {
  const finder = await setting.open();
  for (const [i, card] of cards.entries()) {
    finder.put(card);
    if ((i + 1) % 10_000 === 0) say(`${i + 1} cards`);
  }
  say("calibrating");
  await finder.calibrate();
  return finder;
}

const clock = () => ({ now: () => performance.now() });
