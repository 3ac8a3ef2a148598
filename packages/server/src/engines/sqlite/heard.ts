import type { TaskRecord } from "../../ports/task-store.js";
import type { Connection } from "./driver.js";
import type { TaskCache } from "./task-cache.js";
import { UPDATE_ALL_HEARD, UPDATE_HEARD } from "./task-rows.js";
import type { Writer } from "./writer.js";

/** Tasks as they are before it is noted. */
interface Group {
  readonly tasks: TaskRecord[];
  /** For each whether it still was so. */
  readonly written: Promise<boolean[]>;
}

/**
 * Notes that submitters have heard of the end of their tasks. They wait for nothing any more, so it is written for many tasks
 * at once: one statement, and each page once. If the process dies before, a notice comes twice.
 */
export class Heard {
  readonly #connection: Connection;
  readonly #writer: Writer;
  readonly #cache: TaskCache;
  readonly #all;
  readonly #one;
  #open: Group | undefined;

  constructor(connection: Connection, writer: Writer, cache: TaskCache) {
    this.#connection = connection;
    this.#writer = writer;
    this.#cache = cache;
    this.#all = connection.prepare(UPDATE_ALL_HEARD);
    this.#one = connection.prepare(UPDATE_HEARD);
  }

  /** False: it has changed meanwhile. */
  async note(task: TaskRecord): Promise<boolean> {
    this.#open ??= this.#newGroup();
    const { tasks, written } = this.#open;
    const place = tasks.push(task) - 1;
    return (await written)[place]!;
  }

  #newGroup(): Group {
    const tasks: TaskRecord[] = [];
    const written = this.#writer.writeSoon(
      () => {
        if (this.#open?.tasks === tasks) this.#open = undefined;
        return this.#write(tasks);
      },
      // Little is asked of a task whose submitter knows.
      (noted) => {
        for (const [i, { seq }] of tasks.entries()) if (noted[i]) this.#cache.drop(seq);
      },
    );
    return { tasks, written };
  }

  #write(tasks: readonly TaskRecord[]): boolean[] {
    this.#connection.exec("SAVEPOINT heard");
    const { changes } = this.#all.run(JSON.stringify(tasks.map(({ seq, revision }) => [seq, revision])));
    if (changes === tasks.length) {
      this.#connection.exec("RELEASE heard");
      return tasks.map(() => true);
    }
    // Some were changed meanwhile, as by a requeue; which ones, only single statements tell.
    this.#connection.exec("ROLLBACK TO heard; RELEASE heard");
    return tasks.map(({ seq, revision }) => this.#one.run(seq, revision).changes === 1);
  }
}
