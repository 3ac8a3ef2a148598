import type { Io } from "../../packages/cli/src/io.js";
import { run } from "../../packages/cli/src/program.js";

export interface Said {
  code: number;
  out: string;
  err: string;
}

/** Runs one command line in this process, and answers what it printed. */
export async function commandLine(argv: readonly string[], more: Partial<Io> = {}): Promise<Said> {
  let out = "";
  let err = "";
  const io: Io = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    stdin: async () => "",
    env: {},
    outIsTty: false,
    errIsTty: false,
    columns: 80,
    signal: new AbortController().signal,
    now: () => Date.now(),
    ...more,
  };
  return { code: await run(argv, io), out, err };
}
