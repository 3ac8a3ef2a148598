import type { Capability } from "@agent-reach/protocol";
import type { Catalog, Resolution } from "../catalog/catalog.js";

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
  const [found] = catalog.find({ tenant, capability: name });
  if (found !== undefined) return { ok: true, resolved: found };
  const same = catalog.resolve({ tenant, agentId: name, capability });
  return same.ok ? same : catalog.resolve({ tenant, agentId: name });
}
