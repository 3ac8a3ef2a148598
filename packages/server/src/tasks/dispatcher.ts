import type { Catalog } from "../catalog/catalog.js";
import type { Resolved } from "../catalog/found.js";
import type { Journal, MessageLog } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { TaskRecord, TaskStore } from "../ports/task-store.js";
import type { LiveInstance } from "../registry/instance.js";
import type { Admission } from "../router/admission.js";
import type { Parent } from "../router/chain.js";
import type { Router } from "../router/router.js";
import type { Wheel } from "../time/wheel.js";
import { Commits } from "./commits.js";
import { Deliveries, type Launch } from "./deliveries.js";
import { Gaps } from "./gaps.js";
import { LaneBook } from "./lanes.js";
import { Losses } from "./losses.js";
import { OrderedLanes } from "./ordered-lanes.js";
import { Overdue } from "./overdue.js";
import { Results } from "./results.js";
import { type RunOwner, TaskRun } from "./run.js";
import { Runs } from "./runs.js";
import { CLAIM_MAX, type DispatchSettings } from "./settings.js";

export type { DispatchSettings } from "./settings.js";

/** How long agents may take to find a restarted node again before others get their unfinished work. */
const RECOVERY_MS = 15_000;
/** Lanes looked at in one go: a publish makes one for each of its agents, and others want to be heard in between. */
const LANES_AT_ONCE = 100;
/** Tasks claimed at once where nobody can be found by the capability's name, as it is with topics. */
const NAMELESS_CLAIM_MAX = 8;
/** How often somebody who may stand in is looked for. */
const STAND_IN_LOOK_MS = 1000;
const NONE: ReadonlySet<string> = new Set();

/**
 * The loop: claim what is due → route → write down that it is sent → send. A new task which finds nobody before it and somebody
 * free skips the line: the first write says already that it is sent.
 *
 * It joins the parts that share the work: `deliveries` (out), `results` (in), `losses` (back), `overdue` (late), `gaps` (not yet), and below them
 * `commits`, where every change is decided and stored, and `runs`, what is in whose hands.
 *
 * X1  Nothing is sent before the store says that it is sent, so an attempt's number is never used twice.
 * X2  A lane that nobody can serve is left alone until an instance has room or comes; its tasks spend no attempt meanwhile.
 * X3  Lost work goes out again a moment after the connection was lost, or at once when its instance registers anew, when
 *     a fresh instance of the same agent comes, or when the lease is over; always before new work.
 */
export class Dispatcher implements RunOwner {
  readonly results: Results;
  readonly losses: Losses;
  private readonly runs: Runs;
  private readonly lanes: LaneBook;
  private readonly orderedLanes: OrderedLanes;
  readonly commits: Commits;
  private readonly deliveries: Deliveries;
  private readonly late: Overdue;
  private readonly gaps: Gaps;
  private pumping = false;
  /** The lane whose tasks are being handed out. */
  private current: string | undefined;
  private stopped = false;

  constructor(
    private readonly store: TaskStore,
    private readonly catalog: Catalog,
    router: Router,
    admission: Admission,
    private readonly journal: Journal,
    private readonly wheel: Wheel,
    private readonly system: System,
    settings: DispatchSettings,
    /** Calls in flight may be parents too. */
    private readonly callOf: (messageId: string) => Parent | undefined,
    private readonly onError: (error: unknown) => void,
  ) {
    this.lanes = new LaneBook(wheel, system, () => this.pump());
    this.orderedLanes = new OrderedLanes(store, onError);
    const { breakers } = router;
    this.runs = new Runs(admission, wheel, breakers);
    const { runs, lanes, orderedLanes } = this;
    const commits = new Commits(store, runs, lanes, orderedLanes, journal, system, onError);
    this.commits = commits;
    this.results = new Results(runs, commits, admission, breakers, journal, system, settings);
    this.losses = new Losses(runs, commits, admission, breakers, journal, wheel, system, settings);
    this.deliveries = new Deliveries(catalog, router, admission, runs, commits, this, journal, system, settings);
    this.gaps = new Gaps(store, commits, journal, system, settings, onError);
    this.late = new Overdue(store, runs, commits, this.losses, breakers, journal, system, settings, onError);
    admission.onRoom(
      () => lanes.anyBlocked,
      (capabilities, agentIds) => lanes.unblock(capabilities, agentIds),
    );
  }

  get counts() {
    return this.commits.counts;
  }

  onSettled(listener: (task: TaskRecord) => void): void {
    this.commits.onSettled(listener);
  }

  /** What is worked on under this id: a task, or a call. */
  parentOf(messageId: string): Parent | undefined {
    return this.runs.get(messageId) ?? this.callOf(messageId);
  }

  runOf(messageId: string): TaskRun | undefined {
    return this.runs.get(messageId);
  }

  /** Picks up what was in somebody's hands when the node stopped; whoever has it may well come back with the result. */
  async start(): Promise<void> {
    this.commits.groups.load(await this.store.countOpenGroups());
    const patience = this.system.monotonic() + RECOVERY_MS;
    for (let after: number | undefined; ; ) {
      const page = await this.store.list(
        { states: ["delivered", "working"] },
        { limit: 500, order: "oldest", ...(after !== undefined && { after }) },
      );
      for (const task of page) {
        const run = new TaskRun(this, task, task.attempt, undefined, this.commits.logOf(task), this.system.monotonic());
        run.patienceUntil = patience;
        run.acknowledged = task.state === "working";
        const { sentAt, acceptedAt = sentAt } = task.attempts[task.attempts.length - 1]!;
        run.begunAt -= Math.max(0, this.system.now() - acceptedAt);
        this.runs.add(run);
        this.wheel.set(run, patience);
        this.journal.add(run.log, "recovered", undefined, run.attempt);
      }
      if (page.length < 500) break;
      after = page[page.length - 1]!.seq;
    }
    for (const { lane, capability } of (await this.store.counts()).lanes) {
      this.orderedLanes.add(lane, capability);
      this.lanes.ready(lane, capability);
    }
    this.late.start();
  }

  stop(): void {
    this.stopped = true;
    this.late.stop();
    this.results.stop();
    this.losses.stop();
    this.lanes.stop();
    this.runs.stop();
  }

  arrived(instance: LiveInstance, siblings: Iterable<LiveInstance>): Promise<void> {
    return this.losses.arrived(instance, siblings);
  }

  /** An agent is forgotten, or subscribes to something else: what waits for it may never be able to go. */
  changed(agentId: string): void {
    this.lanes.unblock(NONE, new Set([agentId]));
  }

  departed(instanceId: string): void {
    this.losses.departed(instanceId);
  }

  /** A new task stands in its line. */
  enqueued({ lane, capability, orderKey, dueAt }: TaskRecord): void {
    if (orderKey !== undefined) this.orderedLanes.add(lane, capability);
    this.lanes.waits(lane, capability, dueAt ?? 0);
  }

  /**
   * Takes a slot for a task that is about to be inserted, if it need not wait for anything: `launch.task` is then to be stored
   * in its place, and `launched` or `abandon` called. It spares a write and a turn; what the agent sees is the same.
   */
  prepare(task: TaskRecord, resolved: Resolved): Launch | undefined {
    const mayGo =
      task.orderKey === undefined &&
      (task.dueAt ?? 0) <= this.system.now() &&
      !this.commits.anyReturning &&
      !this.stopped &&
      this.current !== task.lane &&
      this.lanes.isClear(task.lane);
    if (!mayGo) return undefined;
    // What is known by its messageId is most likely sent again, and then it goes nowhere.
    if (this.journal.find(task.messageId) !== undefined) return undefined;
    return this.deliveries.prepare(task, resolved);
  }

  /** It is stored. */
  launched(launch: Launch, stored: TaskRecord, log: MessageLog): void {
    this.deliveries.launched(launch, stored, log);
  }

  /** It is not stored: a duplicate, or the store cannot write. */
  abandon(launch: Launch): void {
    this.deliveries.abandon(launch);
  }

  private pump(): void {
    if (this.pumping || this.stopped) return;
    this.pumping = true;
    this.work()
      .catch(this.onError)
      .finally(() => {
        this.pumping = false;
        if (this.lanes.hasReady) this.pump();
      });
  }

  private async work(): Promise<void> {
    let looks = 0;
    for (let lane = this.lanes.next(); lane !== undefined && !this.stopped; lane = this.lanes.next()) {
      this.current = lane.name;
      const limit = this.claimLimit(lane.capability);
      const { tasks, nextAt } = await this.store.claimDue({ lane: lane.name, now: this.system.now(), limit });
      if (nextAt !== undefined) this.lanes.later(lane.name, lane.capability, nextAt - this.system.now());
      let handled = 0;
      for (const task of tasks) {
        if (task.orderKey !== undefined && (await this.gaps.holds(task))) {
          handled++;
          continue;
        }
        if (!this.deliveries.send(task)) {
          this.store.release(tasks.slice(handled).map((t) => t.messageId));
          this.lanes.block(lane.name, lane.capability, task.request.target?.agentId);
          // Room with somebody who may stand in does not wake this lane.
          if (task.request.fallback !== undefined) this.lanes.later(lane.name, lane.capability, STAND_IN_LOOK_MS);
          break;
        }
        handled++;
      }
      // Fewer than asked for: there are no more.
      if (handled === limit) this.lanes.ready(lane.name, lane.capability);
      this.current = undefined;
      if (++looks % LANES_AT_ONCE === 0) await new Promise<void>((done) => this.system.after(0, done));
    }
  }

  /** No more than could go out at once, as far as that is known by the capability's name. */
  private claimLimit(capability: string): number {
    const offers = this.catalog.offers(capability);
    if (offers === undefined) return NAMELESS_CLAIM_MAX;
    let room = 0;
    for (const { instance } of offers) {
      if (instance.record.state === "online") room += Math.max(0, instance.room);
      if (room >= CLAIM_MAX) return CLAIM_MAX;
    }
    return Math.max(1, room);
  }
}
