import { isTerminal } from "../../packages/server/src/tasks/lifecycle.js";
import type { Job, Ledger, Moment } from "./ledger.js";

/**
 * Calls that were open for the sake of a message when it was over, by the word of the same run of the node: another run knows
 * neither of the two (RES-3).
 */
export function outliving(ledger: Ledger, wrong: (what: string, job?: Job) => void): void {
  for (const job of ledger.jobs) {
    if (job.parentId === undefined) continue;
    const ends = ledger.moments.get(job.parentId)?.filter(({ is }) => is === "over") ?? [];
    for (const { from, to } of livesOf(ledger.moments.get(job.messageId) ?? [])) {
      const ofSameRun = ends.filter(({ node }) => node === from.node);
      // It ends with its parent, a moment later and at the same time.
      if (ofSameRun.some(({ at, number }) => from.number < number && (to === undefined || to.at > at)))
        wrong("it was open when its parent was over", job);
      // The latest end counts: a dead task that was asked for again may have been answered since.
      const before = ofSameRun.findLast(({ number }) => number < from.number);
      if (before?.answered === false && isOver(ledger, job.parentId, from) && to?.at !== from.at)
        wrong("it was taken in when its parent had ended without an answer", job);
    }
  }
}

/** From when to when the node had it; `to` undefined: until the node died. */
function livesOf(moments: readonly Moment[]): { from: Moment; to: Moment | undefined }[] {
  const lives = [];
  for (const [i, from] of moments.entries()) {
    if (from.is !== "taken in") continue;
    const to = moments[i + 1];
    lives.push({ from, to: to?.is === "over" && to.node === from.node ? to : undefined });
  }
  return lives;
}

/** Whether it was still over then: a call may be taken in again, and a task be asked for again. */
function isOver({ moments, commits }: Ledger, messageId: string, { at, number }: Moment): boolean {
  if (moments.get(messageId)?.findLast((moment) => moment.number < number)?.is === "taken in") return false;
  const last = commits.get(messageId)?.findLast((commit) => commit.at <= at);
  return last === undefined || isTerminal(last.task.state);
}
