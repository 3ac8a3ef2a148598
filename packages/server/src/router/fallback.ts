import type { Capability } from "@agent-reach/protocol";
import type { Catalog } from "../catalog/catalog.js";
import type { Resolution, Resolved } from "../catalog/found.js";
import type { Demands } from "./router.js";

/** Who may stand in, in this order, and after which business errors besides what is nobody's answer (RES-9). */
export interface Fallback {
  /** Capabilities or agents. */
  readonly names: readonly string[];
  readonly codes: readonly string[];
}

/** The sender's own wish, else what the capability's card says. */
export function fallbackOf(
  sender: { readonly fallback?: readonly string[] | undefined; readonly fallbackOn?: readonly string[] | undefined },
  capability: Capability | undefined,
): Fallback | undefined {
  const names = sender.fallback ?? capability?.fallback;
  if (names === undefined || names.length === 0) return undefined;
  return { names, codes: sender.fallbackOn ?? capability?.fallbackOn ?? [] };
}

/**
 * Whom a name in a list of fallbacks means: a capability of that name; else the agent of that id, for the same capability
 * if it offers it, else for its only one.
 */
export function resolveStandIn(catalog: Catalog, tenant: string, name: string, capability: string): Resolution {
  const [found] = catalog.find({ tenant, capability: name }).resolved;
  if (found !== undefined) return { ok: true, resolved: found };
  const same = catalog.resolve({ tenant, agentId: name, capability });
  return same.ok ? same : catalog.resolve({ tenant, agentId: name });
}

/** The one agent that was named, if it was an agent. */
export function agentNamed({ reasons, offers }: Resolved): string | undefined {
  return reasons.includes("agent") ? offers[0]?.instance.record.agentId : undefined;
}

/** Somebody who may stand in, and which place in the list that is. */
export interface StandIn {
  readonly index: number;
  readonly name: string;
  readonly resolved: Resolved;
}

/** Those who may stand in for `capability`, from this place of the list on, as far as they take the input. */
export function* standIns(
  catalog: Catalog,
  tenant: string,
  capability: string,
  names: readonly string[],
  from: number,
  input: () => unknown,
): Generator<StandIn> {
  for (let index = from; index < names.length; index++) {
    const name = names[index]!;
    const resolution = resolveStandIn(catalog, tenant, name, capability);
    if (!resolution.ok) continue;
    const { resolved } = resolution;
    const any = resolved.offers[0] ?? resolved.gone[0];
    if (any?.contract.checkInput?.(input()) === undefined) yield { index, name, resolved };
  }
}

/** The version was asked of those it was meant for, and the session and the partition are at home with them. */
export function demandsOnStandIn(demands: Demands): Demands {
  return { ...demands, version: undefined, sessionRef: undefined, partitionKey: undefined };
}
