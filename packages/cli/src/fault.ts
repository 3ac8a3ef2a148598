import { ReachError } from "@agent-reach/protocol";
import type { Io } from "./io.js";
import type { Paint } from "./render/paint.js";

/**
 * Says an error: to people as a sentence with what to do, to programs as one JSON document. A stack is for us, so it
 * comes only when DEBUG asks for it.
 */
export function sayError(error: unknown, how: { io: Io; json: boolean; paint: Paint }): void {
  const { io, json, paint } = how;
  const known = isReachError(error) ? error : undefined;
  if (json) {
    const body = known?.toBody() ?? {
      code: "INTERNAL",
      message: messageOf(error),
      retryable: false,
      outcome: "unknown",
    };
    io.out(`${JSON.stringify({ error: body })}\n`);
  } else {
    io.err(`${paint.bad("error:")} ${known === undefined ? messageOf(error) : describe(known, paint)}\n`);
  }
  if (io.env["DEBUG"] !== undefined && io.env["DEBUG"] !== "")
    io.err(`${error instanceof Error ? error.stack : String(error)}\n`);
}

function describe(error: ReachError, paint: Paint): string {
  const lines = [error.message.replace(/^\[[A-Z_]+\] /, "")];
  // The code is what one looks up; mistakes in typing explain themselves.
  if (error.code !== "INVALID_REQUEST" && error.details?.["reason"] !== "unreachable") {
    const facts: string[] = [error.code];
    if (error.path !== undefined) facts.push(`at ${error.path}`);
    if (error.outcome !== "not_executed")
      facts.push(error.outcome === "executed" ? "it was executed" : "it may have been executed");
    if (error.retryable)
      facts.push(
        error.retryAfterMs === undefined ? "may be tried again" : `may be tried again in ${error.retryAfterMs} ms`,
      );
    lines.push(paint.dim(`       ${facts.join(" · ")}`));
  }
  return lines.join("\n");
}

/** By shape and not by class: two copies of the protocol package may be installed. */
function isReachError(error: unknown): error is ReachError {
  return error instanceof ReachError || (error instanceof Error && error.name === "ReachError" && "outcome" in error);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
