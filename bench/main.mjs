#!/usr/bin/env node
// npm run bench: what Agent-Reach costs over the bare parts that it is made of. See README.md beside this file.
import { parseArgs } from "node:util";
import { machine } from "./lib/host.mjs";
import { stopEverything } from "./lib/processes.mjs";
import { report, table } from "./lib/report.mjs";
import { beside } from "./measures/beside.mjs";
import { calls } from "./measures/calls.mjs";
import { catalog } from "./measures/catalog.mjs";
import { discover, heartbeats, idle } from "./measures/crowd.mjs";
import { reconnect } from "./measures/reconnect.mjs";
import { lookups, registry } from "./measures/registry.mjs";
import { slowDownstream } from "./measures/slow-downstream.mjs";
import { submit, tasks } from "./measures/tasks.mjs";

const measures = {
  calls: calls("bare"),
  "calls-sdk": calls("sdk"),
  submit,
  tasks: tasks("bare"),
  "tasks-sdk": tasks("sdk"),
  beside,
  registry,
  lookups,
  heartbeats,
  idle,
  discover,
  catalog: catalog(1_000),
  "catalog-large": catalog(10_000),
  "slow-downstream": slowDownstream,
  reconnect,
};

/** Measured when they are named: it takes over a quarter of an hour until so many cards are learnt. */
const onRequest = new Set(["catalog-large"]);

const help = `Measures Agent-Reach against bare parts, run in turns with it in the same minutes.

  node bench/main.mjs [--only NAME]... [--rounds R] [--seconds S] [--json] [--cpu-prof DIR]

  --only NAME     one of: ${Object.keys(measures).join(", ")} (may be repeated)
  --rounds R      turns of each contestant (3)
  --seconds S     length of one turn (3)
  --json          one JSON document on stdout instead of the table
  --cpu-prof DIR  writes a CPU profile of each node that was started; read it with bench/hot.mjs

Exit code: 0 everything was measured (a miss is said in the table), 1 something could not be measured, 2 usage.
`;

function usage(message) {
  process.stderr.write(`${message}\n\n${help}`);
  process.exit(2);
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "3" },
      json: { type: "boolean", default: false },
      "cpu-prof": { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  if (!(rounds >= 1 && Number.isInteger(rounds))) usage(`--rounds ${values.rounds}: a whole number from 1 is needed`);
  if (!(seconds > 0)) usage(`--seconds ${values.seconds}: a number above 0 is needed`);
  const names = values.only ?? Object.keys(measures).filter((name) => !onRequest.has(name));
  for (const name of names) if (!Object.hasOwn(measures, name)) usage(`--only ${name}: there is no such measure`);
  const profileDir = values["cpu-prof"];
  const nodeOptions = profileDir === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
  return { names, json: values.json, help: values.help, context: { rounds, seconds, nodeOptions } };
}

async function main() {
  let options;
  try {
    options = readOptions();
  } catch (error) {
    usage(error.message);
  }
  if (options.help) return process.stdout.write(help);

  const host = machine();
  const figures = [];
  const print = () => {
    const text = options.json ? JSON.stringify(report(host, figures, options.context), null, 2) : table(figures);
    process.stdout.write(`${text}\n`);
  };
  let interrupted = false;
  // Whoever loses patience still gets what was measured so far.
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, async () => {
      interrupted = true;
      print();
      await stopEverything();
      process.exit(signal === "SIGINT" ? 130 : 143);
    });
  }
  for (const name of options.names) {
    process.stderr.write(`measuring ${name} …\n`);
    try {
      figures.push(...(await measures[name](options.context)));
    } catch (error) {
      // The handler above ends the process; nothing may be started any more.
      if (interrupted) return;
      figures.push({ name, error: error instanceof Error ? error.message : String(error) });
    } finally {
      await stopEverything();
    }
  }
  print();
  process.exitCode = figures.some(({ error }) => error) ? 1 : 0;
}

await main();
