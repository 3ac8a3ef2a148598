import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { errorTable, ReachError } from "@agent-reach/protocol";

export interface RequestTimes {
  /** For the head of a request, and for all of it. */
  headTimeoutMs: number;
  requestTimeoutMs: number;
}

/** How often requests are looked through for those that take too long. */
const LOOK_EVERY_MS = 500;

/** What Node's HTTP server is told so that no request, and no connection without one, is waited for without end. */
export function timesOf({ headTimeoutMs, requestTimeoutMs }: RequestTimes) {
  return {
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(LOOK_EVERY_MS, requestTimeoutMs),
  };
}

/** Answers what never came to be a request: too slow, too large a head, or no HTTP. Its connection ends with that. */
export function answerBroken(error: Error & { code?: string }, socket: Socket, times: RequestTimes): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  // Once an answer has begun, whatever is written would stand in the middle of it.
  const answer = (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
  if (!socket.writable || answer?.headersSent === true) {
    socket.destroy();
    return;
  }
  const reach = broken(error, times);
  const status = errorTable[reach.code].http;
  const body = JSON.stringify(reach.toBody());
  const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n\r\n${body}`, () => socket.destroy());
}

function broken(error: Error & { code?: string }, times: RequestTimes): ReachError {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT": {
      const { requestTimeout, headersTimeout } = timesOf(times);
      return new ReachError(
        "INVALID_REQUEST",
        `the request took too long to come in: its head may take ${headersTimeout} ms and all of it ${requestTimeout} ms; send it at once, and all that its content-length promises.`,
        { details: { headTimeoutMs: headersTimeout, requestTimeoutMs: requestTimeout } },
      );
    }
    case "HPE_HEADER_OVERFLOW":
      return new ReachError(
        "PAYLOAD_TOO_LARGE",
        "the head of the request is too large; send what is long in the body.",
      );
    default:
      return new ReachError("INVALID_REQUEST", `not an HTTP/1.1 request: ${error.message}.`);
  }
}
