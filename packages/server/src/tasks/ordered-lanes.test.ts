import { expect, test } from "vitest";
import { settle } from "../../../../test/kit/fake-system.js";
import { MemoryTaskStore } from "../engines/memory/task-store.js";
import { newTask } from "../ports/conformance/samples.js";
import { OrderedLanes } from "./ordered-lanes.js";

const names = (lanes: OrderedLanes): string[] => [...lanes.all()].map(({ name }) => name);

test("lanes that are empty are left out when there are very many, those in which tasks wait are kept", async () => {
  const store = new MemoryTaskStore();
  const lanes = new OrderedLanes(store, (error) => {
    throw error;
  });
  await store.insert(newTask({ lane: "lane-7", orderKey: "k" }));
  for (let n = 0; n < 5_000; n++) {
    lanes.add(`lane-${n}`, "query_order");
    if (n % 100 === 0) await settle();
  }
  await settle();
  expect(names(lanes).length).toBeLessThan(2_000);
  expect(names(lanes)).toEqual(expect.arrayContaining(["lane-7", "lane-4999"]));
});

test("nothing is left out while the store cannot be read", async () => {
  const store = new MemoryTaskStore();
  const errors: unknown[] = [];
  store.counts = () => Promise.reject(new Error("unreadable"));
  const lanes = new OrderedLanes(store, (error) => errors.push(error));
  for (let n = 0; n < 1_500; n++) lanes.add(`lane-${n}`, "query_order");
  await settle();
  expect([names(lanes).length, errors.length]).toEqual([1_500, 1]);
});
