const signals = ["SIGTERM", "SIGINT"] as const;

/** Runs `leave` at the first signal and then sends it again, so that the process ends as whoever sent it expects. */
export function onSignals(leave: (signal: NodeJS.Signals) => Promise<void>): () => void {
  const forget = () => {
    for (const signal of signals) process.off(signal, handle);
  };
  const handle = (signal: NodeJS.Signals) => {
    forget();
    void leave(signal).finally(() => process.kill(process.pid, signal));
  };
  for (const signal of signals) process.on(signal, handle);
  return forget;
}
