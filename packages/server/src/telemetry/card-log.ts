import type { OnFound } from "../catalog/linter.js";
import type { Log } from "./log.js";

/** Of those who offer a capability, so many are named in a line. */
const AGENTS_MAX = 5;
/** So many lines in a node's life: a fleet whose cards were all made from one pattern must not fill the disk. */
const LINES_MAX = 200;

/** One line for each capability that may not be found as it is meant (REG-12). */
export function cardLog(log: Pick<Log, "warn">, linesMax = LINES_MAX): OnFound {
  let lines = 0;
  return ({ name, offers }, warnings) => {
    lines++;
    if (lines > linesMax + 1) return;
    if (lines > linesMax) {
      log.warn("more capabilities may not be found as they are meant; from here on only agents.get says which");
      return;
    }
    const agents = [...new Set(offers.map(({ instance }) => instance.record.agentId))].slice(0, AGENTS_MAX);
    log.warn({ agents, warnings: warnings.map(({ message }) => message) }, `${name} may not be found as it is meant`);
  };
}
