import type { Chance } from "./chance.js";
import { NOT_TODAY } from "./handlers.js";
import type { Execution, Job, Ledger } from "./ledger.js";
import type { Universe } from "./universe.js";

/** What a message may ask for besides the work itself, as it stands in its envelope. */
export interface Wishes {
  readonly partitionKey?: string;
  /** Who may stand in: capabilities and agents. */
  readonly fallback?: string[];
  readonly fallbackOn?: string[];
}

/**
 * Who may stand in for some jobs (RES-9), and which go by a key to one instance (ROUTE-11). From chance of its own, after all
 * is planned: what is planned stays the same, with or without wishes.
 */
export function makeWishes(universe: Universe, chance: Chance): void {
  if (!chance.in(0.35)) return;
  const agents = universe.clients.flatMap(({ settings: { card } }) => (card?.capabilities ? [card.agentId] : []));
  const names = ["read", "write", "leaf", ...agents, "nobody"];
  for (const job of universe.ledger.jobs) {
    const partitionKey = chance.in(0.3) ? `key ${chance.int(0, 3)}` : undefined;
    const standsIn = chance.in(0.4);
    const fallback = standsIn ? Array.from({ length: chance.int(1, 3) }, () => chance.pick(names)) : undefined;
    const listed = standsIn && chance.in(0.6);
    job.wishes = {
      ...(partitionKey !== undefined && { partitionKey }),
      ...(fallback !== undefined && { fallback: [...new Set(fallback)] }),
      ...(listed && { fallbackOn: [NOT_TODAY] }),
    };
  }
}

/** Whether it said no in a way after which the sender wants somebody else to be asked. */
export function passedOn({ wishes: { fallback, fallbackOn } }: Job, { end }: Execution): boolean {
  return fallback !== undefined && end?.code !== undefined && fallbackOn?.includes(end.code) === true;
}

/** Who executed it is whom it was for, or whom it named for that; and an answer says which of the two. */
export function strangers(ledger: Ledger, wrong: (what: string, job?: Job) => void): void {
  for (const { job, capability, agentId, process } of ledger.executions)
    if (capability !== job.capability && !isNamed(job, capability, agentId))
      wrong(`${process.name} executed it as ${capability}, which nobody had named`, job);
  for (const job of ledger.jobs) {
    for (const { answer, result } of job.sends) {
      for (const heard of [answer, result]) {
        const id = (heard?.data as { execution?: number } | undefined)?.execution;
        const done = id === undefined ? undefined : ledger.executions[id];
        if (heard === undefined || done === undefined) continue;
        const { capability, agentId } = done;
        if (heard.degraded && !isNamed(job, capability, agentId)) wrong("it is called degraded, and is not", job);
        if (!heard.degraded && capability !== job.capability)
          wrong(`${agentId} stood in as ${capability}, and it was not said`, job);
      }
    }
  }
}

function isNamed({ wishes: { fallback = [] } }: Job, capability: string, agentId: string): boolean {
  return fallback.includes(capability) || fallback.includes(agentId);
}
