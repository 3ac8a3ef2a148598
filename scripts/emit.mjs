// Writes the generated files of spec/ from the built protocol package.
// --check writes nothing, names what is stale and exits 1. --dir DIR works on another folder than spec/.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    dir: { type: "string", default: fileURLToPath(new URL("../spec", import.meta.url)) },
  },
});
const builder = new URL("../packages/protocol/dist/spec.js", import.meta.url);
if (!existsSync(builder)) {
  console.error("packages/protocol is not built; run `npm run build` first.");
  process.exit(2);
}
const { specFiles } = await import(builder.href);
const stale = [];
for (const [name, content] of Object.entries(specFiles())) {
  const file = join(options.dir, name);
  if (existsSync(file) && readFileSync(file, "utf8") === content) continue;
  stale.push(name);
  if (!options.check) writeFileSync(file, content);
}
if (stale.length === 0) console.log("spec is up to date.");
else if (!options.check) console.log(`Written: ${stale.join(", ")}.`);
else {
  console.error(`Stale: ${stale.join(", ")}. Run \`npm run build && npm run emit\` and commit the result.`);
  process.exit(1);
}
