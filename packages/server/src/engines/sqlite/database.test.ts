import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newInstance, newTask, newVersion } from "../../ports/conformance/samples.js";
import type { Engine } from "../engine.js";
import { openDatabase } from "./database.js";
import { loadDriver } from "./driver.js";
import { openSqlite } from "./index.js";
import { APPLICATION_ID, migrations } from "./schema.js";

describe("opening reach.db", () => {
  let directory: string;
  let file: string;
  const engines: Engine[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "reach-"));
    file = join(directory, "reach.db");
  });
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    rmSync(directory, { recursive: true, force: true });
  });
  async function open(): Promise<Engine> {
    const engine = await openSqlite(directory);
    engines.push(engine);
    return engine;
  }
  /** A closed store with a few hundred tasks in it. */
  async function filled(): Promise<void> {
    const engine = await open();
    await Promise.all(Array.from({ length: 300 }, () => engine.tasks.insert(newTask())));
    await engine.close();
  }
  function overwrite(at: number, bytes: Uint8Array): void {
    const descriptor = openSync(file, "r+");
    writeSync(descriptor, bytes, 0, bytes.length, at);
    closeSync(descriptor);
  }
  const refusal = (text: RegExp, reason: string) => ({
    code: "NOT_READY",
    message: expect.stringMatching(text),
    details: expect.objectContaining({ reason, directory }),
  });

  test("commits with WAL and synchronous NORMAL, whatever the build's default is", async () => {
    const database = await openDatabase(directory);
    const read = (name: string) => Object.values(database.connection.prepare(`PRAGMA ${name}`).get()!)[0];
    expect([read("journal_mode"), read("synchronous"), read("user_version")]).toEqual(["wal", 1, migrations.length]);
    database.close();
  });

  test("copies a long log into the file once it is on disk, and begins it anew", async () => {
    const database = await openDatabase(directory);
    const { connection } = database;
    const sizes = () => [file, `${file}-wal`].map((name) => statSync(name).size);
    const fill = async () => {
      connection.exec("BEGIN");
      for (let n = 0; n < 1_200; n++) connection.prepare("INSERT INTO filling VALUES (zeroblob(4000))").run();
      connection.exec("COMMIT");
      const before = sizes();
      expect(await new Promise((resolve) => database.sync(resolve))).toBeNull();
      return before;
    };
    connection.exec("CREATE TABLE filling (bytes BLOB)");
    const [empty, log] = await fill();
    expect(empty).toBeLessThan(1e6);
    expect(log).toBeGreaterThan(4.8e6);
    const [filled] = sizes();
    expect(filled).toBeGreaterThan(4.8e6);
    const [, logAgain] = await fill();
    expect(logAgain).toBeLessThan(1.1 * log!);
    expect(sizes()[0]).toBeGreaterThan(9.6e6);
    // And is left as it was: the next commit begins the log in a way that outlasts a power failure.
    expect(connection.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 1 });
    database.close();
  });

  test("F07: may not grow into all that is free, from the start on", async () => {
    const database = await openDatabase(directory);
    const { max_page_count: pages } = database.connection.prepare("PRAGMA max_page_count").get()!;
    const { blocks, bsize } = statfsSync(directory);
    expect((pages as number) * 4096).toBeLessThan(blocks * bsize);
    database.close();
  });

  test("a store of the first version is brought to this one, with all that is in its registry", async () => {
    const old = (await loadDriver())(file);
    old.exec(`PRAGMA application_id = ${APPLICATION_ID}; ${migrations[0]}; PRAGMA user_version = 1`);
    const insert = old.prepare("INSERT INTO registry (kind, key, revision, record) VALUES (?, ?, ?, ?)");
    const records = [newInstance("i2"), newInstance("i1"), newVersion("a", 1)];
    for (const [i, record] of records.entries()) {
      record.revision = 7 + i;
      insert.run(record.kind, record.key, record.revision, JSON.stringify(record));
    }
    old.exec("UPDATE meta SET value = 9 WHERE key = 'registry_revision'");
    old.close();

    const { registry } = await open();
    expect(await registry.list("instance")).toEqual([records[1], records[0]]);
    expect(await registry.list("version")).toEqual([records[2]]);
    expect(await registry.revision()).toBe(9);
    expect(await registry.put([{ record: { ...records[0]!, revision: 7 }, expected: 7 }])).toEqual({
      ok: true,
      revisions: [10],
    });
  });

  test("a store whose orders went by arrival keeps them, and puts what comes with a number before them", async () => {
    const old = (await loadDriver())(file);
    old.exec(`PRAGMA application_id = ${APPLICATION_ID}; ${migrations[0]}; ${migrations[1]}; PRAGMA user_version = 2`);
    const insert = old.prepare(
      `INSERT INTO tasks (seq, lane, blocked, due_at, deadline_at, capability, created_at, message_id, trace_id, order_key, given, input)
         VALUES (?, 'a', ?, 1, 9000, 'a', 1, ?, 't', 'k', '["p",0,"c",0,30000,null,0,0]', '1')`,
    );
    for (const n of [1, 2]) insert.run(n, n - 1, `m-${n}`);
    old.close();

    const { tasks } = await open();
    const next = async () => (await tasks.claimDue({ lane: "a", now: 2_000, limit: 9 })).tasks;
    const { request } = newTask();
    const [claimed] = await next();
    const first = await tasks.update({ ...claimed!, state: "delivered", lane: "", dueAt: 5_000 });
    const numbered = { messageId: "m-3", lane: "a", orderKey: "k", request: { ...request, sequence: 1 } };
    await tasks.insert(newTask(numbered));
    expect([first!.messageId, await next()]).toEqual(["m-1", []]);
    await tasks.update({ ...first!, state: "completed", lane: "", dueAt: undefined, settledAt: 1 });
    const second = await next();
    await tasks.update({ ...second[0]!, state: "completed", lane: "", dueAt: undefined, settledAt: 1 });
    expect([...second, ...(await next())].map(({ messageId }) => messageId)).toEqual(["m-3", "m-2"]);
  });

  test("creates the data directory, also several levels of it", async () => {
    directory = join(directory, "a", "b");
    await (await open()).close();
    expect(existsSync(join(directory, "reach.db"))).toBe(true);
    expect(existsSync(join(directory, "reach.db.new"))).toBe(false);
    directory = join(directory, "..", "..");
  });

  test("a second store on the same directory is refused by name, until the first is closed", async () => {
    const first = await open();
    await expect(openSqlite(directory)).rejects.toMatchObject(
      refusal(/another node already runs on the data directory/, "locked"),
    );
    // The attempt must not have given away the lock of the first.
    await expect(openSqlite(directory)).rejects.toMatchObject({ code: "NOT_READY" });
    await first.tasks.insert(newTask());
    await first.close();
    await open();
  });

  test("a directory owned by another process is refused, and free once that process was killed", async () => {
    const owner = `
      const { DatabaseSync } = process.getBuiltinModule?.("node:sqlite") ?? (await import("@photostructure/sqlite"));
      globalThis.lock = new DatabaseSync(${JSON.stringify(join(directory, "reach.lock"))});
      globalThis.lock.exec("BEGIN EXCLUSIVE");
      process.stdout.write("owned");
      process.stdin.resume();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", owner], {
      cwd: import.meta.dirname,
      stdio: ["pipe", "pipe", "ignore"],
    });
    await once(child.stdout, "data");
    await expect(openSqlite(directory)).rejects.toMatchObject(refusal(/another node/, "locked"));
    child.kill("SIGKILL");
    await once(child, "exit");
    await open();
  });

  test("F03: an empty file is refused, with its name and the remedy, and left as it is", async () => {
    writeFileSync(file, "");
    await expect(openSqlite(directory)).rejects.toMatchObject(
      refusal(/reach\.db is damaged: it is empty.*backup/, "corrupt"),
    );
    expect(statSync(file).size).toBe(0);
  });

  test("F03: a file of another kind is refused and left as it is", async () => {
    writeFileSync(file, "these are not the tasks you are looking for".repeat(200));
    const before = readFileSync(file);
    await expect(openSqlite(directory)).rejects.toMatchObject(refusal(/not an SQLite file/, "corrupt"));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("F03: an SQLite file of something else is refused", async () => {
    const other = (await loadDriver())(file);
    other.exec("CREATE TABLE theirs (a)");
    other.close();
    await expect(openSqlite(directory)).rejects.toMatchObject(refusal(/not of Agent-Reach/, "foreign"));
  });

  test("F03: damage in the header, in the middle or at the end is found at start", async () => {
    await filled();
    const whole = readFileSync(file);
    const garbage = new Uint8Array(3_000).fill(0xa5);
    const places = {
      header: 20,
      schema: 200,
      middle: Math.floor(whole.length / 8192) * 4096,
      last: whole.length - 3_500,
    };
    for (const [place, at] of Object.entries(places)) {
      writeFileSync(file, whole);
      overwrite(at, garbage);
      await expect(openSqlite(directory), place).rejects.toMatchObject({ code: "NOT_READY", details: { directory } });
    }
    writeFileSync(file, whole);
    await open();
  });

  test("F01: a file that was cut off is found at start", async () => {
    await filled();
    truncateSync(file, statSync(file).size - 8_192);
    await expect(openSqlite(directory)).rejects.toMatchObject(refusal(/is damaged/, "corrupt"));
  });

  test("F01: a start that was cut short while creating the file leaves nothing in the way", async () => {
    writeFileSync(`${file}.new`, "half a fi");
    const engine = await open();
    await engine.tasks.insert(newTask());
    expect(existsSync(`${file}.new`)).toBe(false);
  });

  test("a log without its file is refused rather than thrown away", async () => {
    writeFileSync(`${file}-wal`, "acknowledged rows");
    await expect(openSqlite(directory)).rejects.toMatchObject(
      refusal(/reach\.db-wal is there, but .* is not/, "corrupt"),
    );
    expect(existsSync(`${file}-wal`)).toBe(true);
  });

  test("F08: a data directory that cannot be had is refused, never replaced by memory", async () => {
    writeFileSync(join(directory, "taken"), "");
    directory = join(directory, "taken");
    await expect(openSqlite(directory)).rejects.toMatchObject(refusal(/cannot be created/, "unwritable"));
    directory = join(directory, "..");
  });

  test("a file of a newer version is refused, with both versions", async () => {
    await filled();
    const connection = (await loadDriver())(file);
    connection.exec("PRAGMA user_version = 1000");
    connection.close();
    await expect(openSqlite(directory)).rejects.toMatchObject(
      refusal(/version 1000, this node knows versions up to/, "newer"),
    );
  });

  test("close waits for what was asked for, and refuses what is asked for later", async () => {
    const engine = await open();
    const inserts = Array.from({ length: 2_000 }, () => engine.tasks.insert(newTask()));
    const closing = engine.close();
    await expect(engine.tasks.insert(newTask())).rejects.toMatchObject({
      code: "NOT_READY",
      details: { reason: "closed" },
    });
    await Promise.all([...inserts, closing, engine.close()]);
    expect((await (await open()).tasks.counts()).byState.queued).toBe(2_000);
  });
});
