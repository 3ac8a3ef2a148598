#!/usr/bin/env node
// node bench/hot.mjs FILE.cpuprofile [COUNT]: the functions in which a profiled process spent its own time.
import { readFileSync } from "node:fs";

const [file, count = "30"] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("usage: node bench/hot.mjs FILE.cpuprofile [COUNT]\n");
  process.exit(2);
}

const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8"));
const byId = new Map(nodes.map((node) => [node.id, node]));
const selfUs = new Map();
let busyUs = 0;
samples.forEach((id, index) => {
  const { functionName, url, lineNumber } = byId.get(id).callFrame;
  if (functionName === "(idle)") return;
  const where = url === "" ? "" : `  ${url.split("/").slice(-3).join("/")}:${lineNumber + 1}`;
  const key = `${functionName || "(anonymous)"}${where}`;
  selfUs.set(key, (selfUs.get(key) ?? 0) + timeDeltas[index]);
  busyUs += timeDeltas[index];
});

const rows = [...selfUs].sort((a, b) => b[1] - a[1]).slice(0, Number(count));
for (const [name, us] of rows) console.log(`${((us / busyUs) * 100).toFixed(1).padStart(5)} %  ${name}`);
