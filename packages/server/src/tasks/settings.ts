import type { AckSettings } from "../router/ack-wait.js";

export interface DispatchSettings extends AckSettings {
  backoffMs: readonly number[];
  lossesMax: number;
  lostGraceMs: number;
  gapTimeoutMs: number;
}

/** Tasks taken from the store at once; their state changes then share one commit. */
export const CLAIM_MAX = 64;
/** How soon something is tried again that a full or unreachable store refused. */
export const STORE_RETRY_MS = 1000;
