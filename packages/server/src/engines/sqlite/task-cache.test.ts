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

  test("keeps one that has ended until its submitter knows", () => {
    const cache = new TaskCache();
    cache.put(record(1, { revision: 2, state: "completed", notify: true }));
    expect(cache.get(1)?.revision).toBe(2);
    cache.put(record(1, { revision: 3, state: "completed" }));
    expect([cache.get(1), cache.find("m-1")]).toEqual([undefined, undefined]);
  });

  test("holds a bounded number of tasks: those that have just joined the line stay outside", () => {
    const cache = new TaskCache();
    for (let seq = 1; seq <= 10_001; seq++) cache.put(record(seq));
    expect([cache.get(1)?.seq, cache.get(10_000)?.seq, cache.get(10_001), cache.find("m-10001")]).toEqual([
      1,
      10_000,
      undefined,
      undefined,
    ]);
  });

  test("lets those go first that were unchanged for longest when one comes that somebody works on", () => {
    const cache = new TaskCache();
    for (let seq = 1; seq <= 10_000; seq++) cache.put(record(seq));
    cache.put(record(1, { revision: 2 }));
    for (const seq of [10_001, 10_002]) cache.put(record(seq, { state: "working" }));
    expect([1, 2, 3, 4, 10_001, 10_002].map((seq) => cache.get(seq)?.seq)).toEqual([
      1,
      undefined,
      undefined,
      4,
      10_001,
      10_002,
    ]);
    expect(cache.find("m-2")).toBeUndefined();
  });

  test("holds a bounded amount of input", () => {
    const cache = new TaskCache();
    const input = "x".repeat(1_000_000);
    for (let seq = 1; seq <= 40; seq++) cache.put(record(seq, { input, state: "working" }));
    expect([cache.get(7), cache.get(8)?.seq, cache.get(40)?.seq]).toEqual([undefined, 8, 40]);
    cache.put(record(41, { input }));
    expect([cache.get(8)?.seq, cache.get(41)]).toEqual([8, undefined]);
  });
});
