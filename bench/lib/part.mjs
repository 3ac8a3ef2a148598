// The child's side of a part. A part answers verbs ("open", "run", …) which the bench asks for, one at a time.
// It ends with its parent: when the channel closes there is nobody left to measure for.

/** @param {Record<string, (options: any) => unknown>} verbs */
export function servePart(verbs) {
  process.on("message", async ({ id, verb, options }) => {
    try {
      process.send({ id, result: (await verbs[verb](options)) ?? null });
    } catch (error) {
      process.send({ id, error: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
  // Ctrl-C reaches the whole group of processes; the bench alone decides in which order its parts end.
  process.on("SIGINT", () => {});
}
