import type { ReachError } from "@agent-reach/protocol";
import type { Offer } from "../registry/instance.js";
import type { CapabilityEntry } from "../registry/view.js";
import type { Advice } from "./advice.js";

/** What is asked for: who, what, or in which words. At least one of them. */
export interface Wanted {
  tenant: string;
  capability?: string | undefined;
  agentId?: string | undefined;
  instanceId?: string | undefined;
  intent?: string | undefined;
  /** What `consult` found out about the intent. */
  advice?: Advice | undefined;
  /** What it was published to; the agent is then named as well. */
  topic?: string | undefined;
}

/** One capability and everybody who offers it. */
export interface Resolved {
  name: string;
  offers: readonly Offer[];
  gone: readonly Offer[];
  /** How well it fits, 0..1, and by what. */
  match: number;
  reasons: readonly string[];
}

/** A capability that came near to what nobody can be told to do. */
export interface Near {
  readonly capability: string;
  readonly agentId: string;
  /** How near, 0..1. */
  readonly match: number;
}

/** What fits, best first: one that is meant (and what else comes near), several that cannot be told apart, or nothing. */
export interface Found {
  verdict: "match" | "ambiguous" | "no_match";
  resolved: readonly Resolved[];
  /** What was found as well, and is too far behind the first to be offered. */
  behind?: readonly Resolved[];
  /** What came nearest to a text that was refused. */
  nearest?: readonly Near[];
  /** How much a text that was compared by meaning is like what is served here at all, 0..1: what thresholds are held against. */
  fit?: number | undefined;
  /** What kept slower readers from helping, where nothing is resolved that could say it. */
  notes?: readonly string[];
}

export type Resolution = { ok: true; resolved: Resolved } | { ok: false; error: ReachError };

/** How sure each kind of hard match is. */
export const MATCH = { name: 1, synonym: 0.95, example: 0.95, tag: 0.9, tagStep: 0.1 };
export const NOTHING: Found = { verdict: "no_match", resolved: [] };

export function resolvedOf(entry: CapabilityEntry, match: number, reasons: readonly string[]): Resolved {
  return { name: entry.name, offers: entry.offers, gone: entry.gone, match, reasons };
}

/** One of them is meant: the first, if no other fits as well. */
export function oneOf(resolved: readonly Resolved[]): Found {
  const [first, second] = resolved;
  if (first === undefined) return NOTHING;
  return { verdict: second !== undefined && second.match === first.match ? "ambiguous" : "match", resolved };
}

/** All of them are meant. */
export function anyOf(resolved: readonly Resolved[]): Found {
  return resolved.length === 0 ? NOTHING : { verdict: "match", resolved };
}

export function namesIn(found: readonly Resolved[]): Set<string> {
  return new Set(found.map(({ name }) => name));
}

/** The agents that offer a capability or have offered it of late, by id. */
export function agentsOf({ offers, gone }: Resolved): string[] {
  return [...new Set([...offers, ...gone].map(({ instance }) => instance.record.agentId))].sort();
}
