import type { ErrorBody } from "@agent-reach/protocol";
import type { Caller } from "../access/access.js";
import type { MessageLog } from "../journal/journal.js";
import type { Offer } from "../registry/instance.js";
import type { Memorable } from "./memory.js";

/** What is left of a call when it is over: enough to answer the same message again, and little, since many are kept. */
export class SettledCall implements Memorable {
  readonly state = "settled";

  constructor(
    readonly log: MessageLog,
    readonly caller: Caller,
    readonly contentHash: number,
    readonly alias: string | undefined,
    readonly attempt: number,
    readonly timeoutMs: number,
    /** Who it was given to last. */
    readonly offer: Offer | undefined,
    /** Raw JSON texts of the result, where it succeeded. */
    public data: string | undefined,
    readonly receipt: string | undefined,
    /** A body and not an Error: an Error holds on to whoever was on the stack, and so to the call with its input. */
    readonly error: ErrorBody | undefined,
    readonly settledAt: number,
    /** Whether somebody stood in. */
    readonly degraded: boolean,
  ) {}

  get messageId(): string {
    return this.log.messageId;
  }

  get tenant(): string {
    return this.caller.tenant;
  }

  get principal(): string {
    return this.caller.principal;
  }

  /** The result of `call`, as JSON text. */
  answer(): string {
    const { log, data, offer, receipt, degraded } = this;
    return `{"messageId":"${log.messageId}","traceId":"${log.traceId}","data":${data},${offer!.addressJson}${receipt === undefined ? "" : `,"receipt":${receipt}`}${degraded ? ',"degraded":true' : ""}}`;
  }

  /**
   * Whether a message of the same content, under this id or only under the same key, is executed and not answered with
   * what came of this one (DLV-7). What surely was not executed may be tried again. An agent's no may end otherwise if
   * somebody asks anew; but who repeats the very message may only have missed the answer, and gets it. Whatever else was
   * executed, or may have been, is not done again.
   */
  mayRunAgain(messageId: string): boolean {
    const { error } = this;
    // A dry run leaves neither result nor error.
    if (error === undefined || error.outcome === "not_executed") return true;
    return error.code === "AGENT_ERROR" && messageId !== this.messageId;
  }

  forget(): void {
    this.log.subject = undefined;
    this.data = undefined;
  }
}
