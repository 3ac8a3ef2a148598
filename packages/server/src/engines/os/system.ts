import { randomFillSync } from "node:crypto";
import type { System } from "../../ports/system.js";
import { uuidV7 } from "./ids.js";

/** setTimeout keeps its delay in 32 bits; a longer one would fire at once. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;
/** A timer that comes so late means that the process itself stood still; then it waits as long again. */
const STALL_MS = 500;
const SECRET_BYTES = 16;
const SECRETS_POOLED = 64;

/** The machine's own clock, timers and chance. */
export function osSystem(): System {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after,
    newId: uuidV7(Date.now, (pool) => randomFillSync(pool)),
    newSecret: secrets(),
    random: () => Math.random(),
  };
}

/** Chance is fetched a pool at a time, which costs hardly more than for one secret; what was given out is wiped. */
function secrets(): () => string {
  const pool = Buffer.alloc(SECRETS_POOLED * SECRET_BYTES);
  let used = pool.length;
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const secret = pool.toString("hex", used, used + SECRET_BYTES);
    pool.fill(0, used, used + SECRET_BYTES);
    used += SECRET_BYTES;
    return secret;
  };
}

/**
 * Waits longer than a timer can hold are chained. A timer may also fire up to a millisecond before performance.now() says so,
 * since its loop rounds: then the rest is waited for (S3). One that fires much too late waits a moment first: a process that was
 * stopped has its timers due before it has read what came meanwhile, or written what it had in hand, and would call the
 * answers to it late (LIVE-7).
 */
function after(delayMs: number, run: () => void): () => void {
  const dueAt = performance.now() + delayMs;
  let timer: NodeJS.Timeout;
  const wait = () => {
    const restMs = dueAt - performance.now();
    if (restMs < -STALL_MS) {
      timer = setTimeout(run, STALL_MS).unref();
      return;
    }
    if (restMs <= 0) return run();
    timer = setTimeout(wait, Math.min(Math.ceil(restMs), TIMEOUT_MAX_MS)).unref();
  };
  // Even a delay of nothing is not called within the call that asks for it.
  timer = setTimeout(wait, Math.min(Math.max(Math.ceil(delayMs), 0), TIMEOUT_MAX_MS)).unref();
  return () => clearTimeout(timer);
}
