import type { Card } from "@agent-reach/protocol";
import type { LeaseTerms } from "./instance.js";

export interface LeaseSettings {
  heartbeatIntervalSec: number;
  ttlHeartbeats: number;
  graceHeartbeats: number;
  /** Where set, these stand instead of the multiples. */
  ttlSec: number | undefined;
  graceSec: number | undefined;
}

/** How long the lease of an instance with this card lasts. A card with an interval of its own gets multiples of that. */
export function termsOf(card: Card, settings: LeaseSettings): LeaseTerms {
  const heartbeatSec = card.heartbeatIntervalSec ?? settings.heartbeatIntervalSec;
  const own = card.heartbeatIntervalSec !== undefined && card.heartbeatIntervalSec !== settings.heartbeatIntervalSec;
  const ttlSec = (own ? undefined : settings.ttlSec) ?? heartbeatSec * settings.ttlHeartbeats;
  const graceSec = (own ? undefined : settings.graceSec) ?? heartbeatSec * settings.graceHeartbeats;
  return { heartbeatIntervalMs: heartbeatSec * 1000, ttlMs: ttlSec * 1000, graceMs: graceSec * 1000 };
}

/** LIVE-1: what is allowed but likely a mistake. The defaults are excepted. */
export function leaseWarnings(terms: LeaseTerms, settings: LeaseSettings): string[] {
  if (terms.heartbeatIntervalMs === settings.heartbeatIntervalSec * 1000) return [];
  const ttlSec = terms.ttlMs / 1000;
  if (ttlSec < 20)
    return [`the lease lasts ${ttlSec} s, which a busy or paused process may miss; 20 s or more is safer.`];
  if (ttlSec > 90) return [`the lease lasts ${ttlSec} s, so a dead agent is noticed late; 90 s or less is usual.`];
  return [];
}
