import type { System } from "../../ports/system.js";
import { osSystem } from "../os/system.js";
import { storeClosed } from "../task-states.js";
import type { Connection } from "./driver.js";
import { isStorageFailure } from "./driver.js";
import { storageFailure } from "./failures.js";

/** How long a patient operation waits. */
const PATIENCE_MS = 100;
/** Keeps one group from holding the event loop for long; what is over goes into the next turn's. */
const GROUP_MAX = 1024;

interface Operation {
  /** Within the transaction. May run again after a rollback, so it changes nothing but the database. */
  run(): unknown;
  /** After the commit, in order: for what is kept in memory, and for listeners. */
  committed: ((value: never) => void) | undefined;
  resolve(value: never): void;
  reject(error: unknown): void;
  value: unknown;
}

/**
 * The one writer: operations asked for in one turn of the event loop become one transaction, so that durability costs
 * one fsync a group, not a row.
 *
 * W1  An operation resolves after the commit that holds it, never before.
 * W2  Operations take effect in the order in which they were asked for.
 * W3  If the file cannot be written, the whole group is rejected with NOT_READY and has changed nothing; the next group tries again.
 * W4  An operation that throws for a reason of its own is rejected alone: the group is rolled back and run without it.
 * W5  Between turns no transaction is open, so what is read is what is committed.
 * W6  A patient operation is asked for a moment later, so that more can gather in it, or when the writer closes.
 */
export class Writer {
  readonly #connection: Connection;
  readonly #directory: string;
  readonly #begin;
  readonly #commit;
  #waiting: Operation[] = [];
  #patient: Operation[] = [];
  #scheduled = false;
  #stopWaiting: (() => void) | undefined;
  readonly #after: System["after"];
  #closed = false;
  readonly #enders: ((stored: boolean) => void)[] = [];

  constructor(connection: Connection, directory: string, after: System["after"] = osSystem().after) {
    this.#after = after;
    this.#connection = connection;
    this.#directory = directory;
    this.#begin = connection.prepare("BEGIN IMMEDIATE");
    this.#commit = connection.prepare("COMMIT");
  }

  write<T>(run: () => T, committed?: (value: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(storeClosed());
      this.#waiting.push({ run, committed, resolve, reject, value: undefined });
      this.#schedule();
    });
  }

  /** The same for what nobody waits for (W6). */
  writeSoon<T>(run: () => T, committed?: (value: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(storeClosed());
      this.#patient.push({ run, committed, resolve, reject, value: undefined });
      this.#stopWaiting ??= this.#after(PATIENCE_MS, () => this.#endPatience());
    });
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

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const group = this.#waiting.length > GROUP_MAX ? this.#waiting.splice(0, GROUP_MAX) : this.#waiting;
      if (group === this.#waiting) this.#waiting = [];
      else this.#schedule();
      this.#execute(group);
    });
  }

  #execute(group: Operation[]): void {
    let running: Operation | undefined;
    try {
      this.#begin.run();
      for (running of group) running.value = running.run();
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
    for (const { committed, resolve, value } of group) {
      committed?.(value as never);
      resolve(value as never);
    }
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
