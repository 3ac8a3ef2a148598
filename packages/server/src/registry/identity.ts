/** Who may speak for an instance: its agent by the tenant, its process by the instanceKey, its newest run by the epoch. */
import { createHash, timingSafeEqual } from "node:crypto";
import { ReachError } from "@agent-reach/protocol";
import type { InstanceRecord } from "../ports/registry-store.js";

/** SHA-256, hex: a secret itself is not kept. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function assertOwner(record: InstanceRecord, tenant: string, agentId: string): void {
  if (record.tenant === tenant && record.agentId === agentId) return;
  throw new ReachError(
    "FORBIDDEN",
    `instance ${record.instanceId} belongs to another agent; leave instanceId out to get one of your own.`,
    { details: { policy: "instance-owner" } },
  );
}

/** A registration from elsewhere under a known instanceId. One that is not connected needs no key, but no wrong one either. */
export function assertTakeover(record: InstanceRecord, connected: boolean, instanceKey: string | undefined): void {
  if (instanceKey !== undefined) {
    if (isKey(instanceKey, record)) return;
    throw new ReachError(
      "FORBIDDEN",
      `the instanceKey is not that of instance ${record.instanceId}; use the one that its registration answered.`,
      { details: { policy: "instance-key" } },
    );
  }
  if (!connected) return;
  throw new ReachError(
    "FORBIDDEN",
    `instance ${record.instanceId} is connected; taking it over needs its instanceKey. Leave instanceId out to join as another instance.`,
    { details: { policy: "instance-key" } },
  );
}

/** A request over HTTP, where no connection says who is speaking. */
export function assertSpeaksFor(
  record: InstanceRecord,
  instanceKey: string | undefined,
  epoch: number | undefined,
): void {
  const { instanceId } = record;
  if (instanceKey === undefined || !isKey(instanceKey, record)) {
    throw new ReachError("FORBIDDEN", `the instanceKey is missing or not that of instance ${instanceId}.`, {
      path: "instanceKey",
    });
  }
  if (epoch === undefined) {
    throw new ReachError("INVALID_REQUEST", "epoch is missing; send the one that registration answered.", {
      path: "epoch",
    });
  }
  if (epoch !== record.epoch) {
    throw new ReachError(
      "CONFLICT",
      `epoch ${epoch} of instance ${instanceId} is over; the newest is ${record.epoch}.`,
      { path: "epoch", details: { epoch: record.epoch } },
    );
  }
}

function isKey(given: string, { keyHash }: InstanceRecord): boolean {
  const hash = hashOf(given);
  return hash.length === keyHash.length && timingSafeEqual(Buffer.from(hash), Buffer.from(keyHash));
}
