/**
 * Loaded first into every process of the demo (`node --import`): it ends the process when the one that started it is
 * gone, however that went, because then the pipe that is its standard input ends.
 */
process.stdin.once("close", () => process.exit(1));
process.stdin.resume();
// Waiting for that must not keep a process alive which is otherwise done.
process.stdin.unref();
