import type { Card } from "@agent-reach/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { card } from "../../../../test/kit/fake-rooms.js";
import { newAgent, newInstance } from "../ports/conformance/samples.js";
import type { AgentRecord, InstanceRecord, RegistryChange } from "../ports/registry-store.js";
import { Contracts } from "./contract.js";
import { View, withParents } from "./view.js";

const terms = { heartbeatIntervalMs: 15_000, ttlMs: 45_000, graceMs: 30_000 };
const open = () => {
  const clock = { now: 1_000 };
  return {
    clock,
    view: new View(
      new Contracts(),
      () => terms,
      () => clock.now,
    ),
  };
};

const agents = ["a1", "a2", "a3"];
const names = ["query", "refund", "ship"];
const tags = ["data/fetch/sql", "data/fetch", "Commerce/Order", "x"];
const content: fc.Arbitrary<Card["capabilities"]> = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...names), tags: fc.subarray(tags) }),
  { selector: (c) => c.name, maxLength: 3 },
);
type Step =
  | { put: number; state: InstanceRecord["state"]; capabilities: Card["capabilities"] }
  | { move: number; state: InstanceRecord["state"] }
  | { remove: number };
const state = fc.constantFrom<InstanceRecord["state"]>("online", "suspect", "draining", "offline");
const instances = 6;
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ put: fc.nat(instances - 1), state, capabilities: content }),
  fc.record({ move: fc.nat(instances - 1), state }),
  fc.record({ remove: fc.nat(instances - 1) }),
);
const agentOf = (i: number): string => agents[i % agents.length]!;

/** Plays the steps on a view, and keeps beside it what a store would hold. */
function play(steps: readonly Step[]) {
  const { view } = open();
  const stored = new Map<number, InstanceRecord>();
  let revision = 0;
  const put = (record: AgentRecord | InstanceRecord) =>
    view.apply({ type: "put", revision: record.revision, record: structuredClone(record) });
  for (const agentId of agents) put({ ...newAgent(agentId), revision: ++revision });
  for (const one of steps) {
    if ("remove" in one) {
      if (!stored.delete(one.remove)) continue;
      const change: RegistryChange = { type: "removed", revision: ++revision, kind: "instance", key: `i${one.remove}` };
      view.apply(change);
      continue;
    }
    const i = "put" in one ? one.put : one.move;
    const known = stored.get(i);
    if ("move" in one && known === undefined) continue;
    const next: InstanceRecord =
      "put" in one
        ? {
            ...newInstance(`i${i}`, agentOf(i)),
            card: { agentId: agentOf(i), capabilities: one.capabilities } as Card,
            cardVersion: (known?.cardVersion ?? 0) + 1,
            state: one.state,
          }
        : { ...known!, state: one.state };
    stored.set(i, { ...next, revision: ++revision });
    put(stored.get(i)!);
  }
  return { view, stored: [...stored.values()] };
}

const offersIn = (list: readonly { instance: { record: InstanceRecord } }[]): string[] =>
  list.map((o) => o.instance.record.instanceId).sort();

describe("REG-5: the read model, after any history", () => {
  test("each capability lists exactly those who offer it, and apart those who are offline (REG-7)", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { view, stored } = play(steps);
        for (const name of names) {
          const offering = stored.filter((r) => r.card.capabilities!.some((c) => c.name === name));
          const entry = view.capabilities.get(name);
          const here = offering.filter((r) => r.state !== "offline").map((r) => r.instanceId);
          const gone = offering.filter((r) => r.state === "offline").map((r) => r.instanceId);
          expect(offersIn(entry?.offers ?? [])).toEqual(here.sort());
          expect(offersIn(entry?.gone ?? [])).toEqual(gone.sort());
          if (entry !== undefined) expect(entry.withdrawnAt === undefined).toBe(here.length + gone.length > 0);
        }
      }),
    );
  });

  test("CAT-2: each tag and its parents count those who carry it, and no tag is left that nobody carries", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { view, stored } = play(steps);
        const naive = new Map<string, Map<string, number>>();
        for (const record of stored.filter((r) => r.state !== "offline")) {
          for (const capability of record.card.capabilities!) {
            const all = new Set(
              (capability.tags ?? []).flatMap((tag) => {
                const parts = tag.toLowerCase().split("/");
                return parts.map((_, n) => parts.slice(0, n + 1).join("/"));
              }),
            );
            for (const tag of all) {
              const counts = naive.get(tag) ?? new Map<string, number>();
              naive.set(tag, counts.set(capability.name, (counts.get(capability.name) ?? 0) + 1));
            }
          }
        }
        expect(view.tags).toEqual(naive);
      }),
    );
  });

  test("each agent has exactly its instances", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { view, stored } = play(steps);
        expect([...view.instances.keys()].sort()).toEqual(stored.map((r) => r.instanceId).sort());
        for (const agentId of agents) {
          const own = stored.filter((r) => r.agentId === agentId).map((r) => r.instanceId);
          expect([...view.agent("default", agentId)!.instances].map((i) => i.record.instanceId).sort()).toEqual(
            own.sort(),
          );
        }
      }),
    );
  });
});

describe("single changes", () => {
  test("what is loaded may come in any order, an instance before its agent too", () => {
    const { view } = open();
    view.apply({ type: "put", revision: 1, record: newInstance("i1", "a1") });
    view.apply({ type: "put", revision: 2, record: newAgent("a1") });
    expect([...view.agent("default", "a1")!.instances].map((i) => i.record.instanceId)).toEqual(["i1"]);
  });

  test("a change of state keeps the offers and what was measured of them; a new card makes new ones", () => {
    const { view } = open();
    view.apply({ type: "put", revision: 1, record: newAgent("a1") });
    const record = { ...newInstance("i1", "a1"), card: card("a1", ["query"]) };
    view.apply({ type: "put", revision: 2, record });
    const [offer] = view.instances.get("i1")!.offers;
    view.apply({ type: "put", revision: 3, record: { ...record, state: "suspect" } });
    expect(view.instances.get("i1")!.offers[0]).toBe(offer);
    view.apply({ type: "put", revision: 4, record: { ...record, card: card("a1", ["other"]), cardVersion: 2 } });
    expect(view.instances.get("i1")!.offers.map((o) => o.capability.name)).toEqual(["other"]);
    expect(view.revision).toBe(4);
  });

  test("a capability that nobody offers any longer is remembered, until it is forgotten", () => {
    const { view, clock } = open();
    const record = { ...newInstance("i1", "a1"), card: card("a1", ["query"]) };
    view.apply({ type: "put", revision: 1, record });
    clock.now = 5_000;
    view.apply({ type: "put", revision: 2, record: { ...record, card: card("a1", ["other"]), cardVersion: 2 } });
    view.forgetCapability("query", 5_000);
    expect(view.capabilities.get("query")).toMatchObject({ offers: [], gone: [], withdrawnAt: 5_000 });
    for (const name of ["query", "other"]) view.forgetCapability(name, 5_001);
    expect([...view.capabilities.keys()]).toEqual(["other"]);
  });

  test("a change says what it was before", () => {
    const { view } = open();
    const record = newInstance("i1", "a1");
    expect(view.apply({ type: "put", revision: 1, record }).before).toBeUndefined();
    expect(view.apply({ type: "put", revision: 2, record: { ...record, state: "offline" } }).before).toBe("online");
    expect(view.apply({ type: "removed", revision: 3, kind: "instance", key: "i1" })).toMatchObject({ removed: true });
    expect(view.apply({ type: "removed", revision: 4, kind: "instance", key: "i1" }).instance).toBeUndefined();
  });
});

test("a tag brings its parents, in lower case, each once", () => {
  expect([...withParents(["Data/Fetch/SQL", "data/fetch", "x"])]).toEqual([
    "data/fetch/sql",
    "data/fetch",
    "data",
    "x",
  ]);
  expect([...withParents(undefined)]).toEqual([]);
});

test("blanks around a slash, slashes too many and those of full width make no other levels", () => {
  expect([...withParents([" data / fetch/", "/data//fetch", "data／fetch"])]).toEqual(["data/fetch", "data"]);
  expect([...withParents(["/", " "])]).toEqual([]);
});
