import type { System } from "../ports/system.js";
import type { TaskRecord, TaskStore } from "../ports/task-store.js";
import type { Dispatcher } from "../tasks/dispatcher.js";
import type { Tasks } from "../tasks/tasks.js";
import { taskText } from "../tasks/text.js";

/** A session that can be told what became of a task. */
export interface Address {
  readonly sessionId: string;
  readonly principal: string;
  /** Sends `task.update`; `answered` is called when the other side has it. */
  notify(taskJson: string, answered: () => void): void;
  /** Raw JSON of the notification's parameters. */
  progress(json: string): void;
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
  private readonly pending = new Map<string, Map<string, string | undefined>>();
  private readonly underway = new Set<string>();

  constructor(
    private readonly store: TaskStore,
    private readonly tasks: Tasks,
    private readonly system: System,
    private readonly onError: (error: unknown) => void,
    /** Whether a session that is gone may still come back to what was its own. */
    private readonly mayResume: (sessionId: string) => boolean,
  ) {}

  listenTo(dispatcher: Dispatcher): void {
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
    const messages = this.pending.get(task.principal);
    if (messages === undefined) this.pending.set(task.principal, new Map([[task.messageId, task.request.sessionId]]));
    else messages.set(task.messageId, task.request.sessionId);
  }

  private catchUp(address: Address): void {
    let inFlight = 0;
    for (const [messageId, sessionId] of this.pending.get(address.principal) ?? []) {
      if (inFlight >= IN_FLIGHT_MAX) return;
      if (this.addressFor(address.principal, sessionId) !== address) continue;
      inFlight++;
      if (this.underway.has(messageId)) continue;
      this.underway.add(messageId);
      this.store
        .get(messageId)
        .finally(() => this.underway.delete(messageId))
        .then((task) => {
          if (task?.notify === true) this.tell(address, task);
          else this.pending.get(address.principal)?.delete(messageId);
        })
        .catch(this.onError);
    }
  }

  private tell(address: Address, task: TaskRecord): void {
    const { messageId, principal } = task;
    if (this.underway.has(messageId)) return;
    this.underway.add(messageId);
    const again = this.system.after(AGAIN_MS, () => {
      this.underway.delete(messageId);
      const next = this.addressFor(principal, task.request.sessionId);
      if (next !== undefined && this.pending.get(principal)?.has(messageId) === true) this.tell(next, task);
    });
    address.notify(taskText(task, { input: false }), () => {
      again();
      this.underway.delete(messageId);
      const messages = this.pending.get(principal);
      messages?.delete(messageId);
      if (messages?.size === 0) this.pending.delete(principal);
      this.tasks.acknowledged(messageId).catch(this.onError);
      if (messages !== undefined && messages.size > 0) this.catchUp(address);
    });
  }

  /** A session went: what it has not answered may go to the next one at once. */
  forget(messageIds: Iterable<string>): void {
    for (const messageId of messageIds) this.underway.delete(messageId);
  }
}
