import { ReachError } from "@agent-reach/protocol";

/** One thing that is wrong with a file of the user's. */
export interface FileProblem {
  file: string;
  /** From 1; absent in a file that is one JSON document. */
  line?: number;
  /** Empty for the line or the document as a whole. */
  field: string;
  /** The rule that is broken, like `required`. */
  rule: string;
  /** What is wrong and what to do, as a sentence that names the field. */
  message: string;
}

const SHOWN_MAX = 10;

/** All that is wrong, at once: who has three wrong lines wants to run the command twice, not four times. */
export function refuseFile(problems: readonly FileProblem[]): ReachError {
  const lines = problems
    .slice(0, SHOWN_MAX)
    .map(({ file, line, message }) => `${file}${line === undefined ? "" : `:${line}`}: ${message}`);
  if (problems.length > SHOWN_MAX) lines.push(`and ${problems.length - SHOWN_MAX} more`);
  return new ReachError("INVALID_REQUEST", lines.join("\n       "), { details: { problems } });
}
