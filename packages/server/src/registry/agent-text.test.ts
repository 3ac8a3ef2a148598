import fc from "fast-check";
import { expect, test } from "vitest";
import { newAgent, newInstance } from "../ports/conformance/samples.js";
import type { InstanceRecord } from "../ports/registry-store.js";
import { AgentTexts } from "./agent-text.js";
import { Contracts } from "./contract.js";
import { LiveInstance, Offer } from "./instance.js";
import type { AgentEntry } from "./view.js";

const terms = { heartbeatIntervalMs: 1, ttlMs: 1, graceMs: 1 };
const one = fc.record({
  state: fc.constantFrom<InstanceRecord["state"]>("online", "suspect", "draining", "offline"),
  reason: fc.string(),
  since: fc.integer({ min: 0, max: 4e12 }),
  beat: fc.option(fc.integer({ min: 0, max: 4e12 }), { nil: undefined }),
  health: fc.double({ min: 0, max: 1, noNaN: true }),
  running: fc.nat(20),
  queued: fc.nat(20),
  facts: fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined }),
  endpoint: fc.option(fc.webUrl(), { nil: undefined }),
  flapping: fc.option(fc.record({ losses: fc.nat(9), until: fc.constant(1), restsUntil: fc.nat(4e12) }), {
    nil: undefined,
  }),
});
type One = typeof one extends fc.Arbitrary<infer T> ? T : never;

function live(some: One): LiveInstance {
  const { state, reason, since, endpoint } = some;
  const sample = newInstance("i");
  const card = { ...sample.card, transport: { type: "ws" as const, ...(endpoint !== undefined && { endpoint }) } };
  const instance = new LiveInstance({ ...sample, state, reason, since, card }, terms);
  return beats(instance, some);
}

function beats(instance: LiveInstance, { beat, health, running, queued, facts, flapping }: One): LiveInstance {
  return Object.assign(instance, { lastHeartbeatAt: beat, health, running, selfQueued: queued, facts, flapping });
}

/** The same shape, said once more in the plainest way. */
function shapeOf({ record, instances }: AgentEntry) {
  const order = ["online", "draining", "suspect", "offline"];
  const shapes = [...instances].map((i) => ({
    instanceId: i.record.instanceId,
    epoch: i.record.epoch,
    state: i.record.state,
    since: new Date(i.record.since).toISOString(),
    reason: i.record.reason,
    lastHeartbeatAt: i.lastHeartbeatAt === undefined ? undefined : new Date(i.lastHeartbeatAt).toISOString(),
    health: i.healthScore(),
    ownHealth: i.health,
    probe: i.probe,
    load: { running: i.running, queued: i.selfQueued, load: Math.round(i.loadScore(0) * 1000) / 1000 },
    selfReported: i.facts,
    flapping: i.flapping && { losses: i.flapping.losses, restsUntil: new Date(i.flapping.restsUntil).toISOString() },
    version: i.record.cardVersion,
    node: i.record.node,
    address: i.record.card.transport?.endpoint,
  }));
  shapes.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const { agentId, version, card } = record;
  return { agentId, version, card, state: shapes[0]?.state ?? "offline", instances: shapes };
}

test("the text of an agent is the JSON of its shape, at first, with newer numbers, and with a newer record", () => {
  const texts = new AgentTexts();
  fc.assert(
    fc.property(fc.array(fc.tuple(one, one, one), { maxLength: 4 }), fc.string(), (all, description) => {
      const agent: AgentEntry = { record: newAgent("a"), instances: new Set(all.map(([first]) => live(first))) };
      const same = () => expect(texts.of(agent, 0)).toBe(JSON.stringify(shapeOf(agent)));
      same();
      for (const [i, instance] of [...agent.instances].entries()) beats(instance, all[i]![1]);
      same();
      for (const [i, instance] of [...agent.instances].entries()) {
        const { state, reason } = all[i]![2];
        instance.record = { ...instance.record, state, reason };
      }
      agent.record = { ...agent.record, version: 2, card: { ...agent.record.card, description } };
      same();
      const old = { agentId: "a", name: "old" };
      expect(texts.ofVersion(agent, 1, JSON.stringify(old), 0)).toBe(
        JSON.stringify({ ...shapeOf(agent), version: 1, card: old }),
      );
    }),
  );
});

test("RES-1: breakers that are not closed are shown with their instance, until it is gone", () => {
  const texts = new AgentTexts();
  const instance = new LiveInstance(newInstance("i"), terms);
  const contracts = new Contracts();
  instance.offers = ["query", "other"].map(
    (name) => new Offer(instance, { name } as Offer["capability"], contracts.of({ name })),
  );
  const agent: AgentEntry = { record: newAgent("a"), instances: new Set([instance]) };
  const shown = () => JSON.parse(texts.of(agent, 5_000)).instances[0].breakers;
  expect(shown()).toBeUndefined();
  Object.assign(instance.offers[0]!.breaker, {
    state: "open",
    brokenSince: 1_000,
    probeAt: 5_500.2,
    failures: 9,
    volume: 12,
    lastFailure: "TIMEOUT",
  });
  expect(shown()).toEqual([
    {
      capability: "query",
      state: "open",
      failures: 9,
      outcomes: 12,
      windowMs: 60_000,
      brokenForMs: 4_000,
      lastFailure: "TIMEOUT",
      probeInMs: 501,
    },
  ]);
  instance.record = { ...instance.record, state: "offline" };
  expect(shown()).toBeUndefined();
});
