import type { JournalEvent } from "@agent-reach/protocol";
import type { AgentRecord, InstanceRecord, RegistryPut, VersionRecord } from "../registry-store.js";
import type { NewTask } from "../task-store.js";

let counter = 0;

/** Ids that rise, in the shape of those that SDKs make. */
export function nextId(): string {
  counter += 1;
  return `0199a5c2-6f0e-7c11-9b1e-${String(counter).padStart(12, "0")}`;
}

/** A task as `submit` inserts it, due at 1,000 and waiting until 1,000,000. */
export function newTask(some: Partial<NewTask> = {}): NewTask {
  const messageId = some.messageId ?? nextId();
  return {
    messageId,
    traceId: messageId.replaceAll("-", ""),
    tenant: "default",
    principal: "shop",
    idempotencyKey: messageId,
    contentHash: "c0ffee",
    state: "queued",
    lane: "query_order",
    dueAt: 1_000,
    deadlineAt: 1_000_000,
    capability: "query_order",
    agentId: undefined,
    instanceId: undefined,
    groupId: undefined,
    orderKey: undefined,
    createdAt: 1_000,
    settledAt: undefined,
    attempt: 0,
    attempts: [],
    deliveryFailures: 0,
    losses: 0,
    request: {
      source: { agentId: "pre-sale-agent-01" },
      timeoutMs: 30_000,
      completionTimeoutMs: 600_000,
      onStalled: "review",
      delivery: "atLeastOnce",
      labels: { region: "cn-beijing" },
    },
    error: undefined,
    receipt: undefined,
    notify: false,
    input: '{"order_id":"20250101001"}',
    data: undefined,
    ...some,
  };
}

export function newInstance(instanceId: string, agentId = "order-agent-01"): InstanceRecord {
  return {
    kind: "instance",
    key: instanceId,
    revision: 0,
    tenant: "default",
    agentId,
    instanceId,
    principal: agentId,
    keyHash: "abc",
    epoch: 1,
    state: "online",
    since: 1_000,
    reason: "registered",
    card: newCard(agentId),
    cardVersion: 1,
    node: "node-1",
  };
}

export function newAgent(agentId: string): AgentRecord {
  return {
    kind: "agent",
    key: `default/${agentId}`,
    revision: 0,
    tenant: "default",
    agentId,
    card: newCard(agentId),
    version: 1,
    recent: [{ version: 1, hash: "h1" }],
    changedAt: 1_000,
  };
}

export function newVersion(agentId: string, version: number): VersionRecord {
  const key = `default/${agentId}/${String(version).padStart(10, "0")}`;
  return { kind: "version", key, revision: 0, card: newCard(agentId), until: 2_000 };
}

export function put(record: RegistryPut["record"], expected?: number): RegistryPut {
  return expected === undefined ? { record } : { record, expected };
}

export function newEvent(id: number, some: Partial<JournalEvent> = {}): JournalEvent {
  return { id, at: new Date(id * 1_000).toISOString(), type: "arrived", ...some } as JournalEvent;
}

function newCard(agentId: string): AgentRecord["card"] {
  return {
    agentId,
    capabilities: [{ name: "query_order" }],
    "x-unknown": { kept: true },
  } as unknown as AgentRecord["card"];
}
