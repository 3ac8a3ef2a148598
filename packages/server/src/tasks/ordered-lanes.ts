import type { TaskStore } from "../ports/task-store.js";
import type { Lane } from "./lanes.js";

/** Below that many nobody need look whether they are still of use. */
const LANES_MIN = 1_000;

/**
 * Lanes that may hold tasks which wait for a predecessor: when one in an order ends, the next may wait in any of them. Names
 * of lanes come from senders, so those that have become empty are left out when there are many.
 */
export class OrderedLanes {
  private readonly lanes = new Map<string, Lane>();
  private pruneAt = LANES_MIN;

  constructor(
    private readonly store: TaskStore,
    private readonly onError: (error: unknown) => void,
  ) {}

  add(name: string, capability: string): void {
    this.lanes.set(name, { name, capability });
    if (this.lanes.size < this.pruneAt) return;
    this.pruneAt = Number.POSITIVE_INFINITY;
    void this.prune();
  }

  all(): Iterable<Lane> {
    return this.lanes.values();
  }

  get size(): number {
    return this.lanes.size;
  }

  /** Tasks are in the store before their lane comes here, so a lane without any waiting then is empty, unless it came again. */
  private async prune(): Promise<void> {
    const known = [...this.lanes.values()];
    try {
      const waiting = new Set((await this.store.counts()).lanes.map(({ lane }) => lane));
      for (const lane of known)
        if (!waiting.has(lane.name) && this.lanes.get(lane.name) === lane) this.lanes.delete(lane.name);
    } catch (error) {
      this.onError(error);
    }
    this.pruneAt = Math.max(LANES_MIN, 2 * this.lanes.size);
  }
}
