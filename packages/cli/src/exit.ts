import type { ErrorCode } from "@agent-reach/protocol";

/** What the process says when it ends. Scripts may rely on these; `agent-reach --help` lists them. */
export const exitCodes = {
  fine: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  notFound: 4,
  unfinished: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodesHelp = `Exit codes:
  0  fine
  1  the node or the agent said no, or the work failed
  2  wrong usage: an unknown option, input that is no JSON, a wrong setting
  3  the node cannot be reached
  4  not found, or nobody offers this
  5  not finished in time: timed out, or still running`;

/** The message's text is for people; what a script learns comes from the code alone. */
export function exitCodeOf(error: unknown): ExitCode {
  const { code, details } = error as { code?: ErrorCode; details?: { reason?: unknown } };
  switch (code) {
    case "UNAVAILABLE":
      return details?.reason === "unreachable" ? exitCodes.unreachable : exitCodes.refused;
    case "INVALID_REQUEST":
      return exitCodes.usage;
    case "NO_ROUTE":
    case "NOT_FOUND":
      return exitCodes.notFound;
    case "TIMEOUT":
    case "DELIVERY_TIMEOUT":
      return exitCodes.unfinished;
    default:
      return exitCodes.refused;
  }
}
