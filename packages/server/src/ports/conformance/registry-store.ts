import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RegistryChange, RegistryStore } from "../registry-store.js";
import { newAgent, newInstance, newVersion, put } from "./samples.js";

export interface RegistrySubject {
  open(): Promise<RegistryStore>;
  /** Closes the store and opens what it kept; left out by engines that keep nothing. */
  reopen?(): Promise<RegistryStore>;
}

/** The promises of RegistryStore, for one engine. */
export function registryStoreConformance({ open, reopen }: RegistrySubject): void {
  describe("RegistryStore", () => {
    let store: RegistryStore;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    async function add(instanceId: string, agentId?: string): Promise<number> {
      const result = await store.put([put(newInstance(instanceId, agentId), 0)]);
      if (!result.ok) throw new Error(`conflict on ${result.conflict}`);
      return result.revisions[0]!;
    }

    test("RS1: put writes all of its records", async () => {
      const result = await store.put([put(newAgent("a"), 0), put(newInstance("i"), 0), put(newVersion("a", 1), 0)]);
      expect(result).toMatchObject({ ok: true });
      expect(await store.get("agent", "default/a")).toMatchObject({
        agentId: "a",
        card: { "x-unknown": { kept: true } },
      });
      expect(await store.get("instance", "i")).toMatchObject({ instanceId: "i", epoch: 1 });
      expect(await store.get("version", "default/a/0000000001")).toMatchObject({ until: 2_000 });
    });

    test("RS1: put writes none of its records if one has another revision than expected", async () => {
      const revision = await add("old");
      const result = await store.put([
        put(newInstance("new"), 0),
        put({ ...newInstance("old"), epoch: 2 }, revision + 1),
      ]);
      expect(result).toEqual({ ok: false, conflict: "old" });
      expect(await store.get("instance", "new")).toBeUndefined();
      expect((await store.get("instance", "old"))?.epoch).toBe(1);
    });

    test("RS1: expected 0 means that there must be none, and left out whatever there is", async () => {
      await add("i");
      expect(await store.put([put(newInstance("i"), 0)])).toEqual({ ok: false, conflict: "i" });
      expect(await store.put([put({ ...newInstance("i"), epoch: 7 })])).toMatchObject({ ok: true });
      expect((await store.get("instance", "i"))?.epoch).toBe(7);
    });

    test("RS1: of many that expect the same revision one wins", async () => {
      const revision = await add("i");
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, epoch) => store.put([put({ ...newInstance("i"), epoch }, revision)])),
      );
      expect(results.filter((result) => result.ok)).toHaveLength(1);
    });

    test("RS2: every record written gets a revision of its own, larger than all before", async () => {
      const revisions = [await add("a"), await add("b")];
      const both = await store.put([put(newInstance("c"), 0), put(newInstance("d"), 0)]);
      if (both.ok) revisions.push(...both.revisions);
      expect(revisions).toHaveLength(4);
      expect(new Set(revisions).size).toBe(4);
      expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
      expect((await store.get("instance", "d"))?.revision).toBe(revisions[3]);
      expect(await store.revision()).toBe(revisions[3]);
    });

    test("RS2: a revision is not given again after the record that had it is gone", async () => {
      const first = await add("i");
      await store.remove("instance", "i", first);
      expect(await add("i")).toBeGreaterThan(first);
    });

    test("remove forgets a record only at its revision", async () => {
      const revision = await add("i");
      expect(await store.remove("instance", "i", revision + 1)).toBe(false);
      expect(await store.get("instance", "i")).toBeDefined();
      expect(await store.remove("instance", "i", revision)).toBe(true);
      expect(await store.get("instance", "i")).toBeUndefined();
      expect(await store.remove("instance", "i", revision)).toBe(false);
    });

    test("list answers one kind by prefix, in order of key, page by page", async () => {
      for (const agentId of ["b", "a", "ab", "c"]) await store.put([put(newAgent(agentId), 0)]);
      await add("default/a");
      const keys = async (options?: Parameters<RegistryStore["list"]>[1]) =>
        (await store.list("agent", options)).map(({ key }) => key);
      expect(await keys()).toEqual(["default/a", "default/ab", "default/b", "default/c"]);
      expect(await keys({ prefix: "default/a" })).toEqual(["default/a", "default/ab"]);
      expect(await keys({ after: "default/a", limit: 2 })).toEqual(["default/ab", "default/b"]);
      expect(await keys({ prefix: "default/a", after: "default/a" })).toEqual(["default/ab"]);
      expect(await keys({ prefix: "other/" })).toEqual([]);
    });

    test("RS4: watch first hands over all agents and instances, then every change of them in order, and of nothing else", async () => {
      await add("i");
      await store.put([put(newAgent("a"), 0), put(newVersion("a", 1), 0)]);
      const seen: RegistryChange[] = [];
      const stop = await store.watch((change) => seen.push(change));
      const key = (change: RegistryChange) => (change.type === "put" ? change.record.key : change.key);
      expect(seen.map(key).sort()).toEqual(["default/a", "i"]);
      const revision = await add("j");
      const fence = { kind: "fence", key: "epochs", revision: 0, epoch: 7 } as const;
      const others = await store.put([put(newVersion("a", 2), 0), put(fence, 0)]);
      expect(await store.get("fence", "epochs")).toMatchObject({ epoch: 7 });
      expect(await store.remove("fence", "epochs", others.ok ? others.revisions[1]! : 0)).toBe(true);
      await store.remove("instance", "j", revision);
      expect(seen.slice(2)).toMatchObject([
        { type: "put", revision, record: { key: "j", revision } },
        { type: "removed", kind: "instance", key: "j" },
      ]);
      expect(seen[3]!.revision).toBeGreaterThan(revision);
      stop();
      await add("k");
      expect(seen).toHaveLength(4);
    });

    test("RS4: a watch that begins amid many puts misses none and sees none twice", async () => {
      const seen = new Map<string, number>();
      const puts = Array.from({ length: 50 }, (_, i) => add(`before-${i}`));
      const watching = store.watch((change) => {
        if (change.type === "put") seen.set(change.record.key, (seen.get(change.record.key) ?? 0) + 1);
      });
      puts.push(...Array.from({ length: 50 }, (_, i) => add(`after-${i}`)));
      await Promise.all([...puts, watching]);
      expect(seen.size).toBe(100);
      expect([...seen.values()].every((times) => times === 1)).toBe(true);
    });

    test("RS4: the listener has heard of a change before put resolves, in order of revision", async () => {
      const heard: number[] = [];
      await store.watch((change) => heard.push(change.revision));
      await Promise.all(
        Array.from({ length: 30 }, (_, i) => add(`i-${i}`).then((revision) => expect(heard).toContain(revision))),
      );
      expect(heard).toEqual([...heard].sort((a, b) => a - b));
    });

    test("RS5: changing a record that was read or given changes nothing that is stored", async () => {
      const given = newInstance("i");
      await store.put([put(given, 0)]);
      given.card.capabilities![0]!.name = "given";
      const read = await store.get("instance", "i");
      read!.card.capabilities![0]!.name = "read";
      const [listed] = await store.list("instance");
      listed!.card.capabilities![0]!.name = "listed";
      expect((await store.get("instance", "i"))?.card.capabilities?.[0]?.name).toBe("query_order");
    });

    if (reopen) {
      test("RS2 RS3: records and the counter of revisions survive a restart", async () => {
        const revision = await add("kept");
        const gone = await add("gone");
        await store.remove("instance", "gone", gone);
        const last = await store.revision();
        store = await reopen();
        expect((await store.get("instance", "kept"))?.revision).toBe(revision);
        expect(await store.get("instance", "gone")).toBeUndefined();
        expect(await store.revision()).toBe(last);
        expect(await add("later")).toBeGreaterThan(last);
      });
    }
  });
}
