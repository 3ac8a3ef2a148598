// A closed loop: `inFlight` operations are under way at any moment, and each that ends starts the next.
// Throughput and latency then belong together (inFlight = throughput x latency), for ours and the yardstick alike.
import { Latencies } from "./stats.mjs";

const errorsMax = 100;
const settleMs = 30_000;

/**
 * Runs `issue(done)` in a closed loop; `done(error?)` ends one operation. What ends after the time is up is waited
 * for, so that the next run starts from silence, and not counted.
 */
export function closedLoop({ seconds, inFlight }, issue) {
  return new Promise((resolve, reject) => {
    const latencies = new Latencies();
    let errors = 0;
    let firstError;
    let open = inFlight;
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1000;
    let lastAt = startedAt;
    const late = setTimeout(
      () => reject(new Error(`${open} of ${inFlight} operations unanswered ${settleMs / 1000} s after the end`)),
      seconds * 1000 + settleMs,
    );

    const slot = () => {
      let issuedAt = performance.now();
      // One function a slot, used for all its operations: the load generator must not be the bottleneck.
      const done = (error) => {
        const now = performance.now();
        if (error !== undefined && error !== null) {
          errors += 1;
          firstError ??= typeof error === "string" ? error : JSON.stringify(error);
        } else if (now <= endsAt) {
          latencies.add(now - issuedAt);
          lastAt = now;
        }
        if (now < endsAt && errors < errorsMax) {
          issuedAt = now;
          issue(done);
          return;
        }
        open -= 1;
        if (open > 0) return;
        clearTimeout(late);
        if (errors > 0) reject(new Error(`${errors} operations failed, the first with ${firstError}`));
        else {
          const { count, p50Ms, p99Ms } = latencies.summary();
          resolve({ perSec: (count * 1000) / (lastAt - startedAt), count, p50Ms, p99Ms });
        }
      };
      issue(done);
    };
    for (let i = 0; i < inFlight; i++) slot();
  });
}
