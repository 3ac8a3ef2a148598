import { OrderedTable } from "../collections/hash-table.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Considered } from "./decision.js";

/** Sessions remembered, by last use. Each costs about 200 bytes; one that is forgotten begins anew wherever it is best served. */
const SESSIONS_MAX = 50_000;

interface Home {
  readonly agentId: string;
  readonly instanceId: string;
}

/**
 * Where sessions are at home: messages with one `sessionRef` stay on one instance of an agent, which may hold what was said
 * before, as long as that instance lives (ROUTE-4). A session which several agents serve has a home with each of them.
 *
 * A1  Whoever got the session's last message of an agent is its home there.
 * A2  A home that is full is waited for; one that cannot take work for any other reason (gone, draining, broken, resting) is
 *     given up, and whoever takes the message is the new home.
 *
 * In memory alone: a restarted node finds new homes.
 */
export class Affinity {
  private readonly homes = new OrderedTable<string, readonly Home[]>();

  get size(): number {
    return this.homes.size;
  }

  /** The home among those who were looked at, if it may take the message now or could but for being full. */
  homeAmong(sessionRef: string, all: readonly Considered[]): Considered | undefined {
    const homes = this.homes.get(sessionRef);
    if (homes === undefined) return undefined;
    let full: Considered | undefined;
    for (const each of all) {
      if (each.verdict !== "lower_score" && each.verdict !== "full") continue;
      const { instanceId } = each.offer.instance.record;
      if (!homes.some((home) => home.instanceId === instanceId)) continue;
      if (each.verdict === "lower_score") return each;
      full ??= each;
    }
    return full;
  }

  keep(sessionRef: string, { record: { agentId, instanceId } }: LiveInstance): void {
    const homes = this.homes.delete(sessionRef);
    const others = homes?.filter((home) => home.agentId !== agentId) ?? [];
    this.homes.set(sessionRef, [...others, { agentId, instanceId }]);
    if (this.homes.size <= SESSIONS_MAX) return;
    for (const oldest of this.homes.keys()) {
      this.homes.delete(oldest);
      break;
    }
  }
}
