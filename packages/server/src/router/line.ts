import { OrderedTable } from "../collections/hash-table.js";
import { Pace } from "./pace.js";

/** Something that waits until an instance has room. */
export interface Waiter {
  /** Messages of one lane can be served by the same instances. */
  readonly lane: string;
  readonly capability: string;
  /** Whose it is: callers take turns. */
  readonly callerKey: string;
  /** Where it waits, while it does; the line's own. */
  place: Place | undefined;
  /** Tries again; false when still nobody can take it. */
  retry(): boolean;
  /** It has to go: somebody who has less in the line needs the place. */
  displaced(): void;
}

export interface Place {
  readonly laneName: string;
  readonly lane: Lane;
  readonly caller: string;
}

/** Callers by name, in the order of their turns, each with what waits of theirs, oldest first. */
type Lane = OrderedTable<string, Waiter[]>;

/**
 * All who wait for one capability. Lanes take turns, and in each lane its callers do; the messages of one caller keep their
 * order. So whoever sends one call waits for one turn, however many calls somebody else has brought (fair queuing, Nagle
 * 1987). When the line is full, whoever has most in it gives way to those who have less: the newest goes (longest queue drop,
 * Suter et al. 1998). As long as there is room, one caller may use all of it.
 */
export class Line {
  private readonly lanes = new OrderedTable<string, Lane>();
  private readonly callers = new OrderedTable<string, Waiter[]>();
  readonly pace = new Pace();
  count = 0;

  constructor(
    readonly capability: string,
    private readonly max: number,
  ) {}

  /** False when there is no place for it. Who waits already keeps the place that it has. */
  join(waiter: Waiter, now: number): boolean {
    if (waiter.place !== undefined) return true;
    if (this.count >= this.max && !this.makeRoom(waiter.callerKey)) return false;
    if (this.count++ === 0) this.pace.begin(now);
    const { lane: laneName, callerKey } = waiter;
    let lane = this.lanes.get(laneName);
    if (lane === undefined) {
      lane = new OrderedTable();
      this.lanes.set(laneName, lane);
    }
    append(lane, callerKey, waiter);
    append(this.callers, callerKey, waiter);
    waiter.place = { laneName, lane, caller: callerKey };
    return true;
  }

  leave(waiter: Waiter): void {
    const { place } = waiter;
    if (place === undefined) return;
    waiter.place = undefined;
    this.count--;
    remove(this.callers, place.caller, waiter);
    remove(place.lane, place.caller, waiter);
    if (place.lane.size === 0) this.lanes.delete(place.laneName);
  }

  /** Tries one after another, lanes and callers in turn, until nobody finds room. */
  serve(clock: () => number): void {
    const open = [...this.lanes.keys()];
    for (let name = open.shift(); name !== undefined; name = open.shift()) {
      const lane = this.lanes.get(name);
      if (lane === undefined || !this.serveNext(lane, clock)) continue;
      if (this.lanes.get(name) !== lane) continue;
      // It had its turn.
      this.lanes.delete(name);
      this.lanes.set(name, lane);
      open.push(name);
    }
  }

  private serveNext(lane: Lane, clock: () => number): boolean {
    const [caller] = lane.keys();
    const first = lane.get(caller!)![0]!;
    const { place } = first;
    if (!first.retry()) return false;
    // One that ended while it was tried has left by itself, and may be back in another place by now.
    if (first.place === place) this.leave(first);
    if (first.place === undefined) this.pace.tick(clock());
    const rest = lane.get(caller!);
    if (rest !== undefined) {
      lane.delete(caller!);
      lane.set(caller!, rest);
    }
    return true;
  }

  private makeRoom(caller: string): boolean {
    let most = this.callers.get(caller)?.length ?? 0;
    let longest: Waiter[] | undefined;
    for (const waiting of this.callers.values()) {
      // One more of the newcomer's, and one less of the other's, must still be the fairer.
      if (waiting.length <= most + 1) continue;
      most = waiting.length - 1;
      longest = waiting;
    }
    const last = longest?.at(-1);
    if (last === undefined) return false;
    this.leave(last);
    last.displaced();
    return this.count < this.max;
  }
}

function append(table: OrderedTable<string, Waiter[]>, key: string, waiter: Waiter): void {
  const known = table.get(key);
  if (known === undefined) table.set(key, [waiter]);
  else known.push(waiter);
}

function remove(table: OrderedTable<string, Waiter[]>, key: string, waiter: Waiter): void {
  const list = table.get(key);
  const at = list?.indexOf(waiter) ?? -1;
  if (at < 0) return;
  list!.splice(at, 1);
  if (list!.length === 0) table.delete(key);
}
