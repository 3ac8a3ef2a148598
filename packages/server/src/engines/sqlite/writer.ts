import type { ReachError } from "@agent-reach/protocol";
import type { System } from "../../ports/system.js";
import { osSystem } from "../os/system.js";
import { storeClosed } from "../task-states.js";
import type { Connection } from "./driver.js";
import { isStorageFailure } from "./driver.js";
import { storageFailure, syncFailure } from "./failures.js";

/** How long a patient operation waits. */
const PATIENCE_MS = 100;
/** So long a group's operations hold the event loop, and its commit as long again; those that are left go into the next group. */
const GROUP_MS = 4;

interface Operation {
  /** Within the transaction. May run again after a rollback, so it changes nothing but the database. */
  run(): unknown;
  /** After the commit, in order: for what is kept in memory, and for listeners. */
  committed: ((value: never) => void) | undefined;
  resolve(value: never): void;
  reject(error: unknown): void;
  value: unknown;
}

/** Asks the disk to keep what was committed, beside the event loop, and says when it does. */
export type Sync = (done: (error: Error | null) => void) => void;

/**
 * The one writer: operations asked for in one turn of the event loop, or while the disk confirms the group before, become one
 * transaction as far as GROUP_MS goes, so that durability costs one fsync a group, not a row, and nobody but those who asked waits
 * for it.
 *
 * W1  An operation resolves after the commit that holds it is on disk, never before.
 * W2  Operations take effect in the order in which they were asked for.
 * W3  If the file cannot be written, the whole group is rejected with NOT_READY and has changed nothing; the next group tries again.
 * W4  An operation that throws for a reason of its own is rejected alone: the group is rolled back and run without it.
 * W5  Between turns no transaction is open, and `read` sees only what is on disk: neither more nor less than what has resolved.
 * W6  A patient operation is asked for a moment later, so that more can gather in it, or when the writer closes.
 * W7  If the disk does not confirm a commit, nobody knows what of it is safe: nothing is taken any more until the next start.
 */
export class Writer {
  readonly #connection: Connection;
  readonly #directory: string;
  readonly #sync: Sync;
  readonly #begin;
  readonly #commit;
  #waiting: Operation[] = [];
  #patient: Operation[] = [];
  /** Those who wait to read until the commit that lies before the disk is confirmed. */
  #readers: (() => void)[] = [];
  #scheduled = false;
  #syncing = false;
  #stopWaiting: (() => void) | undefined;
  readonly #system: Pick<System, "after" | "monotonic">;
  #closed = false;
  #failure: ReachError | undefined;
  readonly #enders: ((stored: boolean) => void)[] = [];

  constructor(
    connection: Connection,
    directory: string,
    sync: Sync,
    system: Pick<System, "after" | "monotonic"> = osSystem(),
  ) {
    this.#system = system;
    this.#connection = connection;
    this.#directory = directory;
    this.#sync = sync;
    this.#begin = connection.prepare("BEGIN IMMEDIATE");
    this.#commit = connection.prepare("COMMIT");
  }

  write<T>(run: () => T, committed?: (value: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const refusal = this.#refusal();
      if (refusal) return reject(refusal);
      this.#waiting.push({ run, committed, resolve, reject, value: undefined });
      this.#schedule();
    });
  }

  /** The same for what nobody waits for (W6). */
  writeSoon<T>(run: () => T, committed?: (value: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const refusal = this.#refusal();
      if (refusal) return reject(refusal);
      this.#patient.push({ run, committed, resolve, reject, value: undefined });
      this.#stopWaiting ??= this.#system.after(PATIENCE_MS, () => this.#endPatience());
    });
  }

  /** Reads what is on disk (W5). Its own complaints are put into our words. */
  async read<T>(run: () => T): Promise<T> {
    if (this.#syncing) await new Promise<void>((resolve) => this.#readers.push(resolve));
    try {
      return run();
    } catch (error) {
      throw isStorageFailure(error) ? storageFailure(error, this.#directory) : error;
    }
  }

  /** Called at the end of every transaction, before anybody else hears of it: for what is remembered of it in memory. */
  onEnd(listener: (stored: boolean) => void): void {
    this.#enders.push(listener);
  }

  /** Resolves when everything asked for before has been decided; afterwards nothing is taken any more. */
  async close(): Promise<void> {
    this.#endPatience();
    // Operations are decided in order, so the last one's answer stands for all.
    const last = this.write(() => undefined);
    this.#closed = true;
    await last.catch(() => undefined);
  }

  #endPatience(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    if (this.#patient.length === 0) return;
    this.#waiting.push(...this.#patient);
    this.#patient = [];
    this.#schedule();
  }

  #refusal(): ReachError | undefined {
    return this.#closed ? storeClosed() : this.#failure;
  }

  #schedule(): void {
    if (this.#scheduled || this.#syncing) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const group = this.#waiting;
      this.#waiting = [];
      this.#execute(group);
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #execute(group: Operation[]): void {
    const until = this.#system.monotonic() + GROUP_MS;
    let running: Operation | undefined;
    try {
      this.#begin.run();
      for (const [i, operation] of group.entries()) {
        running = operation;
        operation.value = operation.run();
        const isOver = i + 1 < group.length && this.#system.monotonic() >= until;
        if (isOver) this.#waiting = group.splice(i + 1).concat(this.#waiting);
      }
      running = undefined;
      this.#commit.run();
    } catch (error) {
      this.#rollBack();
      if (running === undefined || isStorageFailure(error)) {
        const failure = storageFailure(error, this.#directory);
        for (const operation of group) operation.reject(failure);
        return;
      }
      running.reject(error);
      const others = group.filter((operation) => operation !== running);
      if (others.length > 0) this.#execute(others);
      return;
    }
    for (const listener of this.#enders) listener(true);
    this.#syncing = true;
    this.#sync((error) => this.#synced(group, error));
  }

  /** The others of the group are told in this very turn, so whoever reads next has heard of all that is to be read. */
  #synced(group: Operation[], error: Error | null): void {
    this.#syncing = false;
    if (error) {
      this.#failure = syncFailure(error, this.#directory, "not_executed");
      const failure = syncFailure(error, this.#directory, "unknown");
      for (const operation of group) operation.reject(failure);
      for (const operation of [...this.#waiting.splice(0), ...this.#patient.splice(0)]) operation.reject(this.#failure);
    } else {
      for (const { committed, resolve, value } of group) {
        committed?.(value as never);
        resolve(value as never);
      }
    }
    for (const read of this.#readers.splice(0)) read();
    if (this.#waiting.length > 0) this.#schedule();
  }

  #rollBack(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
    for (const listener of this.#enders) listener(false);
  }
}
