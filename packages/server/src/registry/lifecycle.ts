/**
 * The life of an instance, as a pure function.
 *
 *    register            lease expired, or link lost         grace expired           24 h
 *   ─────────▶  online  ─────────────────────────▶ suspect ──────────────▶ offline ──────▶ purged
 *                │  ▲                               │  │                      ▲
 *                │  └────────── renewed ────────────┘  │                      │
 *                └──────────── drain ──────────────────┴──▶ draining ─────────┘
 *                                                        goodbye, or time is up
 *
 * R1  A heartbeat never resurrects: from offline only a new registration leads back, under a higher epoch.
 * R2  A registration of a known instance raises the epoch, unless it comes over the link that holds the instance.
 * R3  Draining never becomes online or suspect again in the same epoch.
 * R4  Only a goodbye, the end of grace, or the end of a drain makes an instance offline.
 */
import type { InstanceRecord } from "../ports/registry-store.js";

export type LeaseEvent =
  | { type: "renewed"; reason?: string | undefined }
  | { type: "lost"; reason: string }
  | { type: "expired" }
  | { type: "graceExpired" }
  | { type: "drain"; reason: string }
  | { type: "goodbye"; reason: string };

export type LeaseOutcome = { ok: true; record: InstanceRecord; changed: boolean } | { ok: false; reason: string };

/** `now` is wall time in ms, for `since`. The revision is left to the store. */
export function transition(record: InstanceRecord, event: LeaseEvent, now: number): LeaseOutcome {
  const to = (state: InstanceRecord["state"], reason: string): LeaseOutcome => ({
    ok: true,
    changed: true,
    record: { ...record, state, reason, since: now },
  });
  const same: LeaseOutcome = { ok: true, changed: false, record };
  const no = (reason: string): LeaseOutcome => ({ ok: false, reason });

  switch (event.type) {
    case "renewed":
      if (record.state === "offline") return no("the lease is gone: register again");
      return record.state === "suspect" ? to("online", event.reason ?? "renewed its lease") : same;
    case "lost":
      return record.state === "online" ? to("suspect", event.reason) : same;
    case "expired":
      return record.state === "online" ? to("suspect", "missed its heartbeats") : same;
    case "graceExpired":
      if (record.state === "online") return no("an online instance has a lease");
      return record.state === "offline" ? same : to("offline", "did not come back in time");
    case "drain":
      if (record.state === "offline") return no("it is offline already");
      return record.state === "draining" ? same : to("draining", event.reason);
    case "goodbye":
      return record.state === "offline" ? same : to("offline", event.reason);
  }
}

/** A registration: a new record, or the next epoch of a known one (R2). */
export function registered(
  fresh: Omit<InstanceRecord, "kind" | "key" | "epoch" | "state" | "since" | "reason" | "revision" | "secret"> & {
    secret?: string | undefined;
    reason?: string | undefined;
  },
  known: InstanceRecord | undefined,
  sameLink: boolean,
  epochFloor: number,
  now: number,
): InstanceRecord {
  // An offline instance comes back only under a higher epoch, even over its old link (R1).
  const keeps = sameLink && known !== undefined && known.state !== "offline";
  const epoch = known === undefined ? epochFloor + 1 : keeps ? known.epoch : known.epoch + 1;
  const state = keeps && known.state === "draining" ? "draining" : "online";
  const since = keeps && known.state === state ? known.since : now;
  const { tenant, agentId, instanceId, principal, keyHash, card, cardVersion, node, reason = "registered" } = fresh;
  const record: InstanceRecord = {
    kind: "instance",
    key: instanceId,
    revision: known?.revision ?? 0,
    tenant,
    agentId,
    instanceId,
    principal,
    keyHash,
    epoch,
    state,
    since,
    reason,
    card,
    cardVersion,
    node,
  };
  if (fresh.secret !== undefined) record.secret = fresh.secret;
  return record;
}
