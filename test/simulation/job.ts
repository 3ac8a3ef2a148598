import type { Job } from "./ledger.js";

/** A job as it begins: nothing of it was sent, done or given up yet, and it asks for nothing special but what it says. */
export function jobOf(
  job: Pick<Job, "id" | "kind" | "capability" | "caller" | "steps" | "messageId"> & Partial<Job>,
): Job {
  return {
    idempotencyKey: undefined,
    orderKey: undefined,
    atMostOnce: false,
    sends: [],
    executions: [],
    canceled: false,
    wishes: {},
    ...job,
  };
}
