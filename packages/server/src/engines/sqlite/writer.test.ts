import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SlowSystem } from "../../../../../test/kit/slow-system.js";
import { newEvent, newInstance, newTask, put } from "../../ports/conformance/samples.js";
import type { TaskRecord } from "../../ports/task-store.js";
import { osSystem } from "../os/system.js";
import { type Database, openDatabase } from "./database.js";
import { SqliteJournal } from "./journal.js";
import { SqliteRegistryStore } from "./registry-store.js";
import { SqliteTaskStore } from "./task-store.js";
import { Writer } from "./writer.js";

/** Groups have all the time they want, so that what is asked for in one turn is one. */
const still = { after: osSystem().after, monotonic: () => 0 };

describe("Writer", () => {
  let directory: string;
  let database: Database;
  let writer: Writer;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "reach-"));
    database = await openDatabase(directory);
    writer = new Writer(database.connection, directory, (done) => database.sync(done), still);
    database.connection.exec("CREATE TABLE rows (n INTEGER NOT NULL)");
  });
  afterEach(async () => {
    await writer.close();
    database.close();
    rmSync(directory, { recursive: true });
  });
  const add = (n: number | null) => database.connection.prepare("INSERT INTO rows VALUES (?)").run(n);
  const rows = () =>
    database.connection
      .prepare("SELECT n FROM rows ORDER BY rowid")
      .all()
      .map(({ n }) => n);

  test("W1 W2 W5: operations of one turn take effect together, in order, and resolve afterwards", async () => {
    const seen: unknown[] = [];
    const all = [1, 2, 3].map((n) =>
      writer
        .write(
          () => add(n),
          () => seen.push(`committed ${n}`),
        )
        .then(() => seen.push(`resolved ${n}`, rows())),
    );
    expect(rows()).toEqual([]);
    await Promise.all(all);
    expect(seen.slice(0, 3)).toEqual(["committed 1", "committed 2", "committed 3"]);
    expect(seen[4]).toEqual([1, 2, 3]);
  });

  test("W4: an operation that throws is rejected alone, and has changed nothing", async () => {
    const results = await Promise.allSettled([
      writer.write(() => add(1)),
      writer.write(() => {
        add(2);
        throw new TypeError("a mistake");
      }),
      writer.write(() => add(null)),
      writer.write(() => add(4)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(TypeError);
    expect(rows()).toEqual([1, 4]);
  });

  test("W6: patient operations are written together a moment later, and others do not wait for them", async () => {
    const alarms: (() => void)[] = [];
    const quiet = new Writer(database.connection, directory, (done) => database.sync(done), {
      monotonic: () => 0,
      after: (_ms, run) => {
        alarms.push(run);
        return () => {};
      },
    });
    const patient = [1, 2].map((n) => quiet.writeSoon(() => add(n)));
    expect(alarms).toHaveLength(1);
    await quiet.write(() => add(3));
    expect(rows()).toEqual([3]);
    alarms[0]!();
    await Promise.all(patient);
    expect(rows()).toEqual([3, 1, 2]);
  });

  test("W6: a patient operation is written when the writer closes", async () => {
    const last = writer.writeSoon(() => add(1));
    await writer.close();
    await last;
    expect(rows()).toEqual([1]);
  });

  test("W2 W4: more operations than a group has time for keep their order, and one of them may fail", async () => {
    let groups = 0;
    const sync = (done: (error: Error | null) => void) => {
      groups++;
      database.sync(done);
    };
    const slow = new Writer(database.connection, directory, sync, new SlowSystem());
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const all = await Promise.allSettled(numbers.map((n) => slow.write(() => add(n === 30 ? null : n))));
    expect(all.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(rows()).toEqual(numbers.filter((n) => n !== 30));
    expect(groups).toBeGreaterThan(20);
  });
});

describe("Writer over a disk that takes its time", () => {
  let directory: string;
  let database: Database;
  let writer: Writer;
  /** What the disk was asked and has not answered. */
  const asked: ((error: Error | null) => void)[] = [];
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "reach-"));
    database = await openDatabase(directory);
    writer = new Writer(database.connection, directory, (done) => asked.push(done), still);
    database.connection.exec("CREATE TABLE rows (n INTEGER NOT NULL)");
  });
  afterEach(async () => {
    let isClosed = false;
    void writer.close().then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      for (const answer of asked.splice(0)) answer(null);
      await turn();
    }
    database.close();
    rmSync(directory, { recursive: true });
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const add = (n: number) => database.connection.prepare("INSERT INTO rows VALUES (?)").run(n);
  const count = () => database.connection.prepare("SELECT count(*) AS n FROM rows").get()!["n"];

  test("D16, W1 W2: nothing resolves before the disk has answered; what is asked for meanwhile goes into one next group", async () => {
    const seen: string[] = [];
    const note = (name: string) =>
      void writer
        .write(
          () => add(1),
          () => seen.push(`committed ${name}`),
        )
        .then(() => seen.push(`resolved ${name}`));
    note("a");
    await turn();
    note("b");
    await turn();
    note("c");
    await turn();
    expect([seen, asked.length, count()]).toEqual([[], 1, 1]);
    asked.shift()!(null);
    expect(seen).toEqual(["committed a"]);
    await turn();
    expect([seen.at(-1), asked.length, count()]).toEqual(["resolved a", 1, 3]);
    asked.shift()!(null);
    await turn();
    expect(seen.slice(2)).toEqual(["committed b", "committed c", "resolved b", "resolved c"]);
  });

  test("W5: who reads in between waits, hears of the change first, and sees nothing of the next group", async () => {
    const seen: unknown[] = [];
    void writer.write(() => add(1)).then(() => seen.push("resolved"));
    await turn();
    void writer.read(count).then((n) => seen.push(n));
    void writer.write(() => add(2));
    await turn();
    expect(seen).toEqual([]);
    asked.shift()!(null);
    await turn();
    expect(seen).toEqual(["resolved", 1]);
  });

  test("W7: when the disk does not confirm, it is said of whom nothing is known, and nothing is taken any more", async () => {
    const results = [writer.write(() => add(1))];
    await turn();
    results.push(
      writer.write(() => add(2)),
      writer.writeSoon(() => add(3)),
    );
    asked.shift()!(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
    results.push(writer.write(() => add(4)));
    const reasons = (await Promise.allSettled(results)).map((result) => (result as PromiseRejectedResult).reason);
    expect(reasons.map(({ code, outcome }) => [code, outcome])).toEqual([
      ["NOT_READY", "unknown"],
      ["NOT_READY", "not_executed"],
      ["NOT_READY", "not_executed"],
      ["NOT_READY", "not_executed"],
    ]);
    expect(reasons[0]!.message).toMatch(/did not confirm .* start the node again.* \(EIO/);
    await turn();
    expect([count(), asked.length]).toEqual([1, 0]);
    expect(await writer.read(count)).toBe(1);
  });
});

describe("a full disk", () => {
  let directory: string;
  let database: Database;
  let writer: Writer;
  let tasks: SqliteTaskStore;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "reach-"));
    database = await openDatabase(directory);
    writer = new Writer(database.connection, directory, (done) => database.sync(done), still);
    tasks = new SqliteTaskStore(database, writer);
  });
  afterEach(async () => {
    await writer.close();
    database.close();
    rmSync(directory, { recursive: true });
  });
  const pageCount = () => database.connection.prepare("PRAGMA page_count").get()!["page_count"] as number;
  const limitTo = (pages: number) => database.connection.exec(`PRAGMA max_page_count = ${pages}`);
  const long = JSON.stringify("x".repeat(50_000));
  const full = () => ({
    code: "NOT_READY",
    retryable: true,
    outcome: "not_executed",
    details: { reason: "full", directory },
  });

  test("TS8 W3: inserts are refused as a group, leave nothing behind, and work again when there is space", async () => {
    await tasks.insert(newTask());
    limitTo(pageCount() + 40);
    const accepted: TaskRecord[] = [];
    const refused: string[] = [];
    for (let round = 0; round < 6; round++) {
      const group = Array.from({ length: 4 }, () => newTask({ input: long }));
      const results = await Promise.allSettled(group.map((task) => tasks.insert(task)));
      expect(new Set(results.map(({ status }) => status)).size).toBe(1);
      for (const [i, result] of results.entries()) {
        if (result.status === "fulfilled") accepted.push(result.value.task);
        else {
          expect(result.reason).toMatchObject(full());
          expect(result.reason.message).toContain(`the store in ${directory} is full`);
          refused.push(group[i]!.messageId);
        }
      }
    }
    expect(refused.length).toBeGreaterThan(0);
    for (const messageId of refused) expect(await tasks.get(messageId)).toBeUndefined();
    expect((await tasks.counts()).byState.queued).toBe(accepted.length + 1);
    expect(database.connection.prepare("SELECT count(*) AS n FROM texts").get()!["n"]).toBe(accepted.length);

    limitTo(1_000_000);
    const { task } = await tasks.insert(newTask({ messageId: refused[0]!, input: long }));
    expect(await tasks.get(refused[0]!)).toEqual(task);
    expect(Object.values(database.connection.prepare("PRAGMA integrity_check").get()!)).toEqual(["ok"]);
  });

  test("TS8: a refused update leaves the task, its claim and its revision as they were", async () => {
    const { task } = await tasks.insert(newTask());
    await tasks.claimDue({ lane: task.lane, now: 1_000, limit: 1 });
    limitTo(pageCount());
    const change: TaskRecord = { ...task, state: "completed", lane: "", dueAt: undefined, settledAt: 1_000 };
    await expect(tasks.update(change, long)).rejects.toMatchObject(full());
    expect(await tasks.get(task.messageId)).toEqual(task);
    expect((await tasks.claimDue({ lane: task.lane, now: 1_000, limit: 1 })).tasks).toEqual([]);
    limitTo(1_000_000);
    expect(await tasks.update(change, long)).toMatchObject({ revision: 2, state: "completed", data: long });
  });

  test("RS6: a refused put has changed nothing and told nobody, and later revisions go on rising", async () => {
    const registry = new SqliteRegistryStore(database, writer);
    const heard: number[] = [];
    await registry.watch((change) => heard.push(change.revision));
    await registry.put([put(newInstance("i"), 0)]);
    const last = await registry.revision();
    limitTo(pageCount());
    const large = { ...newInstance("large"), reason: long };
    await expect(registry.put([put(newInstance("j"), 0), put(large, 0)])).rejects.toMatchObject(full());
    expect([await registry.get("instance", "j"), await registry.revision(), heard]).toEqual([undefined, last, [last]]);
    limitTo(1_000_000);
    const result = await registry.put([put(large, 0)]);
    expect(result).toMatchObject({ ok: true });
    expect(heard).toHaveLength(2);
    expect(heard[1]).toBeGreaterThan(last);
  });

  test("RS1: a put whose group was undone by somebody else's mistake is done once, and counts from then on", async () => {
    const registry = new SqliteRegistryStore(database, writer);
    const first = registry.put([put(newInstance("i"), 0)]);
    const mistake = writer.write(() => {
      throw new Error("a mistake");
    });
    const again = registry.put([put(newInstance("i"), 0)]);
    await expect(mistake).rejects.toThrow("a mistake");
    expect([(await first).ok, (await again).ok]).toEqual([true, false]);
    expect(await registry.put([put(newInstance("i"), await registry.revision())])).toMatchObject({ ok: true });
  });

  test("RS3: of records that changed often few rows are left, and what was removed stays so after a restart", async () => {
    const registry = new SqliteRegistryStore(database, writer);
    const count = () => database.connection.prepare("SELECT count(*) AS n FROM registry").get()!["n"];
    let last = 0;
    for (let n = 0; n < 1_000; n++) {
      const result = await registry.put([put(newInstance("i"), last), put(newInstance("j"))]);
      last = result.ok ? result.revisions[0]! : 0;
    }
    expect(count()).toBeLessThan(300);
    expect(await registry.remove("instance", "i", last)).toBe(true);
    const after = new SqliteRegistryStore(database, writer);
    expect((await after.list("instance")).map(({ key }) => key)).toEqual(["j"]);
    expect(count()).toBe(1);
  });

  test("a journal that cannot write says so, and goes on later", async () => {
    const journal = new SqliteJournal(database, writer);
    limitTo(pageCount());
    await expect(journal.append([newEvent(1, { messageId: "m", note: long })])).rejects.toMatchObject(full());
    limitTo(1_000_000);
    await journal.append([newEvent(2, { messageId: "m" })]);
    expect((await journal.byMessage("m")).map(({ id }) => id)).toEqual([2]);
  });
});
