import { type Group, ReachError, type TaskState } from "@agent-reach/protocol";
import { taskStates } from "@agent-reach/protocol/schemas";
import { type Caller, mayTouch } from "../access/access.js";
import type { TaskRecord, TaskStore } from "../ports/task-store.js";
import type { OpenGroups } from "./open-groups.js";
import { deadStates, mayRunTwice, type Tasks } from "./tasks.js";

const PAGE = 500;
const openStates: readonly TaskState[] = ["queued", "delivered", "working", "stalled"];

/** Whom to tell that a group has settled, and how it stands. */
export type GroupListener = (principal: string, sessionId: string, group: Group) => void;

/** Tasks under one groupId, as one (DLV-21): how many are in which state, cancel what is open, requeue what failed. */
export class Groups {
  constructor(
    private readonly store: TaskStore,
    private readonly tasks: Tasks,
    private readonly open: OpenGroups,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Hears when all tasks of a group have ended, whose submitter can be told of it. */
  onSettled(listener: GroupListener): void {
    this.open.listen((last) => void this.tell(last, listener).catch(this.onError));
  }

  private async tell({ groupId, principal, request }: TaskRecord, listener: GroupListener): Promise<void> {
    if (request.sessionId === undefined) return;
    const group = await this.count(groupId!, (of) => of === principal);
    // Somebody may have put one of them back meanwhile: then there will be another end.
    if (group?.settled === true) listener(principal, request.sessionId, group);
  }

  async get(caller: Caller, groupId: string): Promise<Group> {
    const group = await this.count(groupId, (principal) => mayTouch(caller, { tenant: caller.tenant, principal }));
    if (group !== undefined) return group;
    throw new ReachError(
      "NOT_FOUND",
      `no task of group "${groupId}" is kept that you may see; what was published to nobody has none, and tasks are forgotten some time after they have ended.`,
      { path: "groupId" },
    );
  }

  /** Answers how many were canceled. */
  async cancel(caller: Caller, groupId: string, reason: string): Promise<number> {
    await this.get(caller, groupId);
    return this.each(caller, groupId, openStates, async ({ messageId }) => {
      const { state } = await this.tasks.cancel(caller, messageId, reason);
      return state === "canceled";
    });
  }

  /** Answers how many go back to the line: dead ones, and those which the agent said no to. */
  async requeue(caller: Caller, groupId: string): Promise<number> {
    await this.get(caller, groupId);
    const requeue = async (task: TaskRecord) =>
      (caller.operator || mayRunTwice(task)) && (await this.tasks.requeue([task.messageId])).length > 0;
    return this.each(caller, groupId, deadStates, requeue);
  }

  /** Page by page in the order of insertion, so each is looked at once, whatever becomes of it meanwhile. */
  private async each(
    caller: Caller,
    groupId: string,
    states: readonly TaskState[],
    change: (task: TaskRecord) => Promise<boolean>,
  ): Promise<number> {
    let changed = 0;
    for (let after = 0; ; ) {
      const page = await this.store.list({ groupId, states }, { limit: PAGE, after, order: "oldest" });
      const done = await Promise.all(page.filter((task) => mayTouch(caller, task)).map(change));
      changed += done.filter(Boolean).length;
      if (page.length < PAGE) return changed;
      after = page[page.length - 1]!.seq;
    }
  }

  private async count(groupId: string, counts: (principal: string) => boolean): Promise<Group | undefined> {
    const rows = (await this.store.countGroup(groupId)).filter(({ principal }) => counts(principal));
    if (rows.length === 0) return undefined;
    const inState = (state: TaskState) => rows.reduce((sum, { byState }) => sum + byState[state], 0);
    const byState = Object.fromEntries(taskStates.map((state) => [state, inState(state)])) as Group["counts"];
    const add = (states: readonly TaskState[]) => states.reduce((sum, state) => sum + byState[state], 0);
    return { groupId, total: add(taskStates), settled: add(openStates) === 0, counts: byState };
  }
}
