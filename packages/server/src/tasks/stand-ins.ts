import type { Catalog } from "../catalog/catalog.js";
import type { TaskRecord } from "../ports/task-store.js";
import { resolveStandIn } from "../router/fallback.js";
import { ENDS } from "./lifecycle.js";

/** Outcomes after which the same one is asked again: it did not say no. */
const GOES_BACK: ReadonlySet<string> = new Set(["lost", "handed_back"]);

/**
 * Whether those that the task is for are given up for good (RES-9): one of them said no by a business error that is listed,
 * or their retries are spent, or somebody has stood in already. Answers the place in the list to go on from.
 */
export function standInFrom({ request, attempts, deliveryFailures }: TaskRecord, retries: number): number | undefined {
  const { fallback } = request;
  if (fallback === undefined) return undefined;
  const last = attempts[attempts.length - 1];
  if (last?.standIn !== undefined && !ENDS.has(last.outcome)) {
    const at = fallback.indexOf(last.standIn);
    return GOES_BACK.has(last.outcome) ? at : at + 1;
  }
  return last?.outcome === "passed_on" || deliveryFailures > retries ? 0 : undefined;
}

/** Whether anybody is left to be asked after the attempt that is under way. */
export function hasStandIn({ request, attempts }: TaskRecord): boolean {
  const { fallback } = request;
  if (fallback === undefined) return false;
  const current = attempts[attempts.length - 1]?.standIn;
  return fallback.length > (current === undefined ? 0 : fallback.indexOf(current) + 1);
}

/** Whether anybody of the list offers anything at all. */
export function anyStandIn(catalog: Catalog, tenant: string, names: readonly string[], capability: string): boolean {
  return names.some((name) => resolveStandIn(catalog, tenant, name, capability).ok);
}
