import { OrderedTable } from "../collections/hash-table.js";
import type { System } from "../ports/system.js";
import type { TaskRecord, TaskStore } from "../ports/task-store.js";
import type { Dispatcher } from "../tasks/dispatcher.js";
import type { Groups } from "../tasks/groups.js";
import type { Tasks } from "../tasks/tasks.js";
import { taskText } from "../tasks/text.js";

/** A session that can be told what became of a task. */
export interface Address {
  readonly sessionId: string;
  readonly principal: string;
  /** Sends `task.update`; `answered` is called when the other side has it. */
  notify(taskJson: string, answered: () => void, messageId: string): void;
  /** Raw JSON of the notification's parameters. */
  progress(json: string): void;
  groupUpdate(json: string): void;
}

/** How long an unanswered notice is left before it is sent again, ms. */
const AGAIN_MS = 10_000;
const IN_FLIGHT_MAX = 256;

/**
 * Tells submitters the end of their tasks: the session that submitted it, or if that is gone, the next one of the same
 * principal; again until it is acknowledged, over restarts too.
 */
export class Notices {
  private readonly addresses = new Map<string, Address>();
  private readonly byPrincipal = new Map<string, Set<Address>>();
  /** principal → messages whose end it does not know yet → the session that submitted them. */
  private readonly pending = new Map<string, OrderedTable<string, string | undefined>>();
  /** Told and not answered yet, in the order of telling; `since` is monotonic ms. */
  private readonly underway = new OrderedTable<string, { task: TaskRecord; since: number }>();
  private readonly reading = new Set<string>();
  /** Principals for whom more waits than was read at once. */
  private readonly behind = new Set<string>();
  private watching = false;

  constructor(
    private readonly store: TaskStore,
    private readonly tasks: Tasks,
    private readonly system: System,
    private readonly onError: (error: unknown) => void,
    /** Whether a session that is gone may still come back to what was its own. */
    private readonly mayResume: (sessionId: string) => boolean,
  ) {}

  listenTo(dispatcher: Dispatcher, groups: Groups): void {
    // Once and to whoever is there: how a group stands can be asked for at any time.
    groups.onSettled((principal, sessionId, group) => {
      this.addressFor(principal, sessionId)?.groupUpdate(JSON.stringify(group));
    });
    dispatcher.onSettled((task) => {
      if (!task.notify) return;
      this.remember(task);
      const address = this.addressFor(task.principal, task.request.sessionId);
      if (address !== undefined) this.tell(address, task);
    });
  }

  async start(): Promise<void> {
    for (let after: number | undefined; ; ) {
      const page = await this.store.list(
        { notify: true },
        { limit: 500, order: "oldest", ...(after !== undefined && { after }) },
      );
      for (const task of page) this.remember(task);
      if (page.length < 500) return;
      after = page[page.length - 1]!.seq;
    }
  }

  join(address: Address): void {
    this.addresses.set(address.sessionId, address);
    let same = this.byPrincipal.get(address.principal);
    if (same === undefined) {
      same = new Set();
      this.byPrincipal.set(address.principal, same);
    }
    same.add(address);
    this.catchUp(address);
  }

  leave(address: Address): void {
    if (this.addresses.get(address.sessionId) === address) this.addresses.delete(address.sessionId);
    const same = this.byPrincipal.get(address.principal);
    same?.delete(address);
    if (same?.size === 0) this.byPrincipal.delete(address.principal);
  }

  /** A session will not come back: what only it was to be told is told to another one of these principals. */
  abandoned(principals: Iterable<string>): void {
    for (const principal of principals) {
      if (!this.pending.has(principal)) continue;
      for (const address of this.byPrincipal.get(principal) ?? []) {
        this.catchUp(address);
        break;
      }
    }
  }

  private addressFor(principal: string, sessionId: string | undefined): Address | undefined {
    const own = sessionId === undefined ? undefined : this.addresses.get(sessionId);
    if (own !== undefined || (sessionId !== undefined && this.mayResume(sessionId))) return own;
    return this.byPrincipal.get(principal)?.values().next().value;
  }

  /** Progress goes to the one who submitted, if it is there; nobody keeps it for later. */
  progress(task: TaskRecord, json: string): void {
    this.addressFor(task.principal, task.request.sessionId)?.progress(json);
  }

  private remember(task: TaskRecord): void {
    let messages = this.pending.get(task.principal);
    if (messages === undefined) {
      messages = new OrderedTable();
      this.pending.set(task.principal, messages);
    }
    messages.set(task.messageId, task.request.sessionId);
  }

  private catchUp(address: Address): void {
    const { principal } = address;
    this.behind.delete(principal);
    let inFlight = 0;
    const messages = this.pending.get(principal);
    for (const messageId of messages?.keys() ?? []) {
      if (inFlight >= IN_FLIGHT_MAX) return void this.behind.add(principal);
      if (this.addressFor(principal, messages!.get(messageId)) !== address) continue;
      inFlight++;
      if (this.reading.has(messageId) || this.underway.has(messageId)) continue;
      this.reading.add(messageId);
      this.store
        .get(messageId)
        .finally(() => this.reading.delete(messageId))
        .then((task) => {
          if (task?.notify === true) this.tell(address, task);
          else this.heard(principal, messageId);
        })
        .catch(this.onError);
    }
  }

  private tell(address: Address, task: TaskRecord): void {
    const { messageId, principal } = task;
    // One that was requeued may have ended again before anybody answered.
    if (this.underway.get(messageId)?.task.revision === task.revision) return;
    this.underway.delete(messageId);
    this.underway.set(messageId, { task, since: this.system.monotonic() });
    this.watch();
    const answered = () => {
      const told = this.underway.get(messageId)?.task.revision ?? task.revision;
      if (told !== task.revision) return;
      this.underway.delete(messageId);
      this.heard(principal, messageId);
      this.tasks.acknowledged(task).catch(this.onError);
      if (this.behind.has(principal)) this.catchUp(address);
    };
    address.notify(taskText(task, { input: false }), answered, messageId);
  }

  private heard(principal: string, messageId: string): void {
    const messages = this.pending.get(principal);
    messages?.delete(messageId);
    if (messages?.size === 0) this.pending.delete(principal);
  }

  /** One alarm serves all notices: they were sent in this order, so the first is the first to be sent again. */
  private watch(): void {
    if (this.watching) return;
    for (const { since } of this.underway.values()) {
      this.watching = true;
      this.system.after(since + AGAIN_MS - this.system.monotonic(), () => {
        this.watching = false;
        this.tellAgain();
        this.watch();
      });
      return;
    }
  }

  private tellAgain(): void {
    const before = this.system.monotonic() - AGAIN_MS;
    const late: TaskRecord[] = [];
    for (const { task, since } of this.underway.values()) {
      if (since > before) break;
      late.push(task);
    }
    for (const task of late) {
      this.underway.delete(task.messageId);
      const next = this.addressFor(task.principal, task.request.sessionId);
      if (next !== undefined && this.pending.get(task.principal)?.has(task.messageId) === true) this.tell(next, task);
    }
  }

  /** A session went: what it has not answered goes to the next one, unless the session may come back for what is its own. */
  forget(messageIds: Iterable<string>): void {
    for (const messageId of messageIds) {
      const told = this.underway.delete(messageId);
      if (told === undefined) continue;
      const { task } = told;
      const next = this.addressFor(task.principal, task.request.sessionId);
      if (next !== undefined && this.pending.get(task.principal)?.has(messageId) === true) this.tell(next, task);
    }
  }
}
