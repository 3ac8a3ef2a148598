/** The world outside a command. Tests bring their own. */
export interface Io {
  /** The result, and nothing else. */
  out(text: string): void;
  /** Progress, hints, errors. */
  err(text: string): void;
  stdin(): Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly outIsTty: boolean;
  readonly errIsTty: boolean;
  /** How wide help may be. */
  readonly columns: number;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  now(): number;
}

export function processIo(): Io & { stop: AbortController } {
  const stop = new AbortController();
  return {
    stop,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    stdin: readStdin,
    env: process.env,
    outIsTty: process.stdout.isTTY === true,
    errIsTty: process.stderr.isTTY === true,
    columns: process.stdout.columns ?? 80,
    signal: stop.signal,
    now: () => Date.now(),
  };
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
