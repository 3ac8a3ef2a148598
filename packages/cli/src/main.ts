import { processIo } from "./io.js";
import { run } from "./program.js";

// A reader that has seen enough (`agent-reach tasks | head`) closes the pipe; that is no error of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
    throw error;
  });
}

const io = processIo();

// The first signal asks the command to end; whoever asks twice does not want to wait.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (io.stop.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    io.stop.abort(signal);
  });
}

process.exitCode = await run(process.argv.slice(2), io);
