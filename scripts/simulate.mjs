// `npm run simulate -- --seeds N [--first S]`: lives through N runs of test/simulation, on all cores, and stops after the
// first seeds that fail. `--plant NAME` puts in a bug of test/simulation/plants.ts, and shows which seeds catch it.
// `--show SEED` prints the timeline of one seed: of the jobs that went wrong, or with `--whole` of all.
import { fork } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    first: { type: "string" },
    show: { type: "string" },
    whole: { type: "boolean", default: false },
    plant: { type: "string", default: "" },
    workers: { type: "string", default: String(availableParallelism()) },
    /** So many failures are enough to look at. */
    failures: { type: "string", default: "5" },
  },
});

/** A run takes some 50 ms; one that takes so long will not end. */
const RUN_MAX_MS = 60_000;
const dir = `${root}node_modules/.cache/simulation/${process.pid}`;
const program = `${dir}/main.mjs`;
mkdirSync(dir, { recursive: true });
process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
await build({
  entryPoints: [`${root}test/simulation/main.ts`],
  outfile: program,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  conditions: ["agent-reach-source"],
  logLevel: "warning",
  plugins: [
    {
      name: "only what is ours",
      setup: (bundle) =>
        bundle.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
          kind === "entry-point" || path.startsWith("@agent-reach/") ? undefined : { path, external: true },
        ),
    },
  ],
});

if (options.show !== undefined) {
  const child = fork(program, ["show", options.show, options.whole ? "whole" : "jobs"]);
  child.once("exit", (code) => process.exit(code ?? 1));
} else await many();

async function many() {
  const seeds = whole("seeds", options.seeds);
  // Another day, other seeds.
  const first = options.first === undefined ? Math.floor(Date.now() / 1000) : whole("first", options.first);
  const workers = Math.min(whole("workers", options.workers), seeds);
  console.log(`${seeds} runs from seed ${first}, in ${workers} processes`);
  const startedAt = performance.now();
  const failed = [];
  let done = 0;
  let passedMs = 0;
  const children = Array.from({ length: workers }, (_, i) =>
    fork(program, ["run", String(first + i), String(Math.ceil((seeds - i) / workers)), String(workers), options.plant]),
  );
  const stop = () => {
    for (const child of children) child.kill();
  };
  process.once("SIGINT", stop);
  await Promise.all(
    children.map(
      (child) =>
        new Promise((ended) => {
          let next = first + children.indexOf(child);
          const stuck = setTimeout(() => {
            failed.push(next);
            console.log(`seed ${next} failed: it does not end`);
            child.kill("SIGKILL");
          }, RUN_MAX_MS);
          child.on("message", ({ seed, wrongs, passedMs: ms }) => {
            stuck.refresh();
            next = seed + workers;
            done++;
            passedMs += ms;
            if (wrongs.length > 0) {
              failed.push(seed);
              const { invariant, what } = wrongs[0];
              console.log(
                `seed ${seed} failed: ${invariant}: ${what}${wrongs.length > 1 ? ` (and ${wrongs.length - 1} more)` : ""}`,
              );
              if (failed.length >= Number(options.failures)) stop();
            }
            if (done % 5000 === 0) console.log(`${done} runs, ${rate(done, startedAt)}`);
          });
          child.once("exit", (code, signal) => {
            clearTimeout(stuck);
            ended(code ?? signal);
          });
        }),
    ),
  );
  const days = (passedMs / 86_400_000).toFixed(1);
  console.log(`\n${done} runs, ${failed.length} failed; ${rate(done, startedAt)}, ${days} days of simulated time`);
  if (failed.length > 0) console.log(`\nnpm run simulate -- --show ${Math.min(...failed)}`);
  process.exit(failed.length === 0 && done === seeds ? 0 : 1);
}

function rate(runs, startedAt) {
  const sec = (performance.now() - startedAt) / 1000;
  return `${sec.toFixed(1)} s, ${(runs / sec).toFixed(0)} runs a second`;
}

function whole(name, text) {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} is ${text}; give a whole number`);
  process.exit(2);
}
