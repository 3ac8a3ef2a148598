import type { Ledger } from "./ledger.js";

/** What happened to these jobs, with the faults around it, in order. */
export function timeline(ledger: Ledger, jobs: ReadonlySet<number> | undefined): string {
  return ledger.lines
    .filter(({ job }) => job === undefined || jobs === undefined || jobs.has(job))
    .map(({ at, who, what, job }) => {
      const moment = (at / 1000).toFixed(4).padStart(9);
      return `${moment} ${who.padEnd(10)} ${job === undefined ? "   " : `#${job}`.padEnd(3)} ${what}`;
    })
    .join("\n");
}
