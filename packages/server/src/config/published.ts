import { nodeRoles } from "./shape.js";

/**
 * Keys under which this project's settings were first published (CLU-6). They are read for good, so that a file which was
 * written from the announcement works: some are other spellings, some belong to later releases and are said to do nothing yet.
 */
const otherSpellings: Readonly<Record<string, string>> = {
  "lease.heartbeatInterval": "lease.heartbeatIntervalSec",
  "lease.heartbeat": "lease.heartbeatIntervalSec",
  "lease.ttl": "lease.ttlSec",
  "lease.grace": "lease.graceSec",
  "lease.purgeAfter": "lease.purgeAfterSec",
  nodeRole: "node.role",
  "registry.nodeRole": "node.role",
  "node.nodeRole": "node.role",
  nodeId: "node.id",
};

const clusterRoles = ["registry-leader", "registry-follower", "cluster"];

export type PublishedKey =
  | { kind: "setting"; path: string }
  /** Accepted without effect, for the reason given. */
  | { kind: "ignored"; reason: string };

/** `path` is already in camelCase and without the outer `agent-reach`. */
export function readPublishedKey(path: string): PublishedKey | undefined {
  if (Object.hasOwn(otherSpellings, path)) return { kind: "setting", path: otherSpellings[path]! };
  if (path === "registry.nodes") {
    return {
      kind: "ignored",
      reason:
        "this release runs as one node (standalone), which has no peers; agents and callers connect to this node's own address",
    };
  }
  if (path === "semantics" || path.startsWith("semantics.")) {
    return {
      kind: "ignored",
      reason:
        "matching by meaning has its table in the box and learns its threshold from the cards; catalog.fine names a better embedder, and catalog.acceptAt sets a threshold, on a scale of its own",
    };
  }
  if (path === "auth" || path.startsWith("auth.")) {
    return {
      kind: "ignored",
      reason: "authentication comes with a later release: this node authenticates nobody, whatever is written here",
    };
  }
  return undefined;
}

/** Roles of a cluster are accepted where one node does the work of all of them. */
export function readPublishedRole(value: unknown): { role: string; explanation: string } | undefined {
  if (typeof value !== "string" || !clusterRoles.includes(value)) return undefined;
  return {
    role: nodeRoles[0],
    explanation: `"${value}" is a role in a cluster; this release runs as one node that does both, so it counts as "${nodeRoles[0]}"`,
  };
}
