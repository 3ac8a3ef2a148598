import { ReachError } from "@agent-reach/protocol";

/** Where a message comes from, hop by hop, as it travels in the envelope. */
export interface Hop {
  agentId?: string;
  messageId: string;
}

/** A message in flight, as far as its children need to know it. */
export interface Parent {
  readonly messageId: string;
  readonly traceId: string;
  readonly capability: string;
  /** Of the input alone, whoever it was meant for. */
  readonly inputHash: number;
  readonly source: { readonly agentId?: string };
  readonly chain: readonly Hop[];
  readonly parent: Parent | undefined;
  /** Who works on it now. */
  readonly worker: string | undefined;
  /** Monotonic ms. */
  readonly deadline: number;
}

/** Longest chain of calls within calls (RES-8). */
export const HOPS_MAX = 16;

/** The chain of a message that was sent while its parent was being worked on. */
export function chainOf(parent: Parent | undefined): readonly Hop[] {
  if (parent === undefined) return [];
  const { agentId } = parent.source;
  return [...parent.chain, { ...(agentId !== undefined && { agentId }), messageId: parent.messageId }];
}

/**
 * Says no to chains that are too long, and to asking the same agent for something that it is already working on for the same
 * reason. `agentId` is who it is for, undefined for whoever can: then anybody who works on the same counts, since it may
 * well be that one who gets it.
 */
export function loopIn(
  parent: Parent | undefined,
  chain: readonly Hop[],
  capability: string,
  agentId: string | undefined,
  inputHash: number,
): ReachError | undefined {
  if (parent === undefined) return undefined;
  if (chain.length > HOPS_MAX) {
    return new ReachError(
      "LOOP_DETECTED",
      `"${capability}" is ${chain.length} calls deep; at most ${HOPS_MAX} may stand in each other. Break the chain, or submit a task.`,
      {
        details: { chain, hopsMax: HOPS_MAX },
      },
    );
  }
  for (let at: Parent | undefined = parent; at !== undefined; at = at.parent) {
    if (at.capability !== capability || (agentId !== undefined && at.worker !== agentId)) continue;
    // Last, since it is put together only when it is asked for.
    if (at.inputHash === inputHash) {
      return new ReachError(
        "LOOP_DETECTED",
        `"${capability}" is asked again with the same input while it is being worked on in the same chain (message ${at.messageId}).`,
        {
          details: { chain, messageId: at.messageId },
        },
      );
    }
  }
  return undefined;
}
