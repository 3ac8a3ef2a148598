import { Command, CommanderError } from "commander";
import { isDuration } from "./arguments.js";
import { type CommandModule, type Context, createContext, defaultUrl, type GlobalOptions } from "./context.js";
import { type ExitCode, exitCodeOf, exitCodes, exitCodesHelp } from "./exit.js";
import { sayError } from "./fault.js";
import type { Io } from "./io.js";
import { createPaint, wantsColor } from "./render/paint.js";
import { ownVersion } from "./version.js";

interface Entry {
  name: string;
  summary: string;
  load: () => Promise<CommandModule>;
}

/** Loading each command only when it is called keeps `agent-reach --help` fast: `serve` alone brings a whole server. */
export const groups: readonly { title: string; entries: readonly Entry[] }[] = [
  {
    title: "Run:",
    entries: [
      { name: "serve", summary: "run a node", load: () => import("./commands/serve.js") },
      { name: "config", summary: "check or show the settings of a node", load: () => import("./commands/config.js") },
      { name: "demo", summary: "see it all at work in a minute", load: () => import("./commands/demo.js") },
    ],
  },
  {
    title: "Look around:",
    entries: [
      { name: "agents", summary: "who is there", load: () => import("./commands/agents.js") },
      { name: "agent", summary: "one agent: its card and its instances", load: () => import("./commands/agent.js") },
      { name: "discover", summary: "who can do something", load: () => import("./commands/discover.js") },
      { name: "watch", summary: "everything that happens, as it happens", load: () => import("./commands/watch.js") },
    ],
  },
  {
    title: "Be found:",
    entries: [
      {
        name: "cards",
        summary: "what is wrong with cards, before they are registered",
        load: () => import("./commands/cards.js"),
      },
      {
        name: "eval",
        summary: "how well requests in plain words find what they should",
        load: () => import("./commands/eval.js"),
      },
    ],
  },
  {
    title: "Give work:",
    entries: [
      { name: "call", summary: "call a capability and wait for the answer", load: () => import("./commands/call.js") },
      { name: "submit", summary: "submit a durable task", load: () => import("./commands/submit.js") },
      { name: "publish", summary: "publish to many agents at once", load: () => import("./commands/publish.js") },
    ],
  },
  {
    title: "Find out:",
    entries: [
      { name: "tasks", summary: "tasks and their states", load: () => import("./commands/tasks.js") },
      { name: "task", summary: "one task: follow, wait, cancel", load: () => import("./commands/task.js") },
      {
        name: "group",
        summary: "a group of tasks: counts, requeue, cancel",
        load: () => import("./commands/group.js"),
      },
      {
        name: "trace",
        summary: "the timeline of one request through all agents",
        load: () => import("./commands/trace.js"),
      },
      { name: "why", summary: "why this agent was chosen for a message", load: () => import("./commands/why.js") },
      { name: "why-not", summary: "why an agent was not chosen", load: () => import("./commands/why-not.js") },
      { name: "queues", summary: "what waits, and for how long", load: () => import("./commands/queues.js") },
      { name: "dead", summary: "dead letters: list, show, requeue, discard", load: () => import("./commands/dead.js") },
      { name: "chaos", summary: "make faults, to see them survived", load: () => import("./commands/chaos.js") },
      { name: "version", summary: "versions", load: () => import("./commands/version.js") },
    ],
  },
];

const topHelp = `
${exitCodesHelp}

Examples:
  $ agent-reach serve
  $ agent-reach agents
  $ agent-reach call query_order '{"order_id": "20250101001"}'
  $ agent-reach submit query_order @order.json --wait
  $ agent-reach why 0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42

The node is ${defaultUrl}, or what --url or AGENT_REACH_URL says.`;

/** Runs one command line (without `node` and the script) and answers the exit code. Never throws. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exit: ExitCode = exitCodes.fine;
  const program = createProgram(io, (code) => {
    exit = code;
  });
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(asCommand(argv), { from: "user" });
    return exit;
  } catch (error) {
    if (io.signal.aborted) return exitCodes.interrupted;
    if (error instanceof CommanderError) return commanderExit(error, argv, io);
    sayError(error, speech(argv, program.opts<GlobalOptions>(), io));
    // A command that has already judged the matter (a task that failed) knows better than the code of the error.
    return exit === exitCodes.fine ? exitCodeOf(error) : exit;
  }
}

/**
 * `help call` is `call --help`: a command's options are known only once it has been loaded. And `--wait` takes the word
 * after it only if that is a duration, so that `task --wait ID` means what it says.
 */
function asCommand(argv: readonly string[]): string[] {
  if (argv[0] === "help" && argv.length > 1) return [...argv.slice(1), "--help"];
  return argv.map((word, at) => (word === "--wait" && !isDuration(argv[at + 1] ?? "") ? "--wait=" : word));
}

export function createProgram(io: Io, exitWith: (code: ExitCode) => void): Command {
  const program = new Command("agent-reach")
    .description("Every agent gets a business card and a mailbox.")
    .usage("COMMAND [options]")
    .option("--url <url>", "address of the node")
    .option("--json", "answer with JSON, errors too: one document, or one line per event")
    .option("--no-color", "no colours (NO_COLOR does the same)")
    .version(ownVersion(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "help for a command")
    .addHelpText("after", topHelp)
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: () => undefined,
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  const modules = new Map<string, Entry["load"]>();
  for (const { title, entries } of groups) {
    program.commandsGroup(title);
    for (const { name, summary, load } of entries) {
      program
        .command(name)
        .summary(summary)
        .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`);
      modules.set(name, load);
    }
  }
  const context = (command: Command): Context => createContext(io, command.optsWithGlobals<GlobalOptions>(), exitWith);
  program.hook("preSubcommand", async (_program, command) => {
    const load = modules.get(command.name());
    if (load !== undefined) await (await load()).define(command, context);
  });
  return program;
}

/** Commander has already written help; its complaints are said here, in our words and on our terms. */
function commanderExit(error: CommanderError, argv: readonly string[], io: Io): ExitCode {
  if (error.exitCode === 0 || error.code === "commander.help")
    return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  const message = error.message.replace(/^error: /, "");
  const known = groups.flatMap(({ entries }) => entries.map((entry) => entry.name));
  const command = argv.find((word) => known.includes(word));
  const remedy = `see \`agent-reach ${command === undefined ? "" : `${command} `}--help\``;
  const { json, paint } = speech(argv, undefined, io);
  if (json)
    io.out(
      `${JSON.stringify({ error: { code: "INVALID_REQUEST", message: `[INVALID_REQUEST] ${message}; ${remedy}`, retryable: false, outcome: "not_executed" } })}\n`,
    );
  else io.err(`${paint.bad("error:")} ${message}\n       ${remedy}\n`);
  return exitCodes.usage;
}

/** When parsing failed, the options are read from the words themselves: whoever asked for JSON gets it. */
function speech(argv: readonly string[], options: GlobalOptions | undefined, io: Io) {
  const json = options?.json === true || argv.includes("--json");
  const color = options?.color ?? !argv.includes("--no-color");
  return { io, json, paint: createPaint(wantsColor({ color, env: io.env, isTty: io.errIsTty })) };
}
