import { describe, expect, test } from "vitest";
import { newTask } from "../../ports/conformance/samples.js";
import type { TaskRecord } from "../../ports/task-store.js";
import { TaskCache } from "./task-cache.js";

describe("TaskCache", () => {
  const record = (seq: number, some: Partial<TaskRecord> = {}): TaskRecord => ({
    ...newTask({ messageId: `m-${seq}` }),
    seq,
    revision: 1,
    ...some,
  });

  test("finds an open task by place and by messageId, as it was put last", () => {
    const cache = new TaskCache();
    cache.put(record(1));
    const newer = record(1, { revision: 2, state: "working" });
    cache.put(newer);
    expect([cache.get(1), cache.find("m-1"), cache.get(2)]).toEqual([newer, newer, undefined]);
  });

  test("lets a task go when it has ended", () => {
    const cache = new TaskCache();
    cache.put(record(1));
    cache.put(record(1, { revision: 2, state: "dead" }));
    expect([cache.get(1), cache.find("m-1")]).toEqual([undefined, undefined]);
  });

  test("holds a bounded number of tasks, and lets those go first that were unchanged for longest", () => {
    const cache = new TaskCache();
    for (let seq = 1; seq <= 50_000; seq++) cache.put(record(seq));
    cache.put(record(1, { revision: 2 }));
    cache.put(record(50_001));
    expect([cache.get(1)?.revision, cache.get(2), cache.find("m-2"), cache.get(3)?.seq]).toEqual([
      2,
      undefined,
      undefined,
      3,
    ]);
  });

  test("holds a bounded amount of input", () => {
    const cache = new TaskCache();
    const input = "x".repeat(1_000_000);
    for (let seq = 1; seq <= 40; seq++) cache.put(record(seq, { input }));
    expect([cache.get(7), cache.get(8)?.seq, cache.get(40)?.seq]).toEqual([undefined, 8, 40]);
  });
});
