import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newInstance } from "../ports/conformance/samples.js";
import type { InstanceRecord } from "../ports/registry-store.js";
import { type LeaseEvent, registered, transition } from "./lifecycle.js";

const id = "0199a5c2-6f0e-7c11-9b1e-000000000001";
const started = (): InstanceRecord => registered(newInstance(id), undefined, false, 0, 1_000);

type Step = { event: LeaseEvent } | { register: { sameLink: boolean } };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .constantFrom<LeaseEvent>(
      { type: "renewed" },
      { type: "lost", reason: "closed" },
      { type: "expired" },
      { type: "graceExpired" },
      { type: "drain", reason: "deploy" },
      { type: "goodbye", reason: "done" },
    )
    .map((event) => ({ event })),
  fc.boolean().map((sameLink) => ({ register: { sameLink } })),
);

/** Every pair of neighbouring records in the life that these steps make. */
function life(steps: readonly Step[], see: (before: InstanceRecord, after: InstanceRecord, step: Step) => void): void {
  let record = started();
  steps.forEach((one, i) => {
    const now = 2_000 + i;
    let next = record;
    if ("register" in one) next = registered(newInstance(id), record, one.register.sameLink, 0, now);
    else {
      const outcome = transition(record, one.event, now);
      if (outcome.ok) next = outcome.record;
    }
    see(record, next, one);
    record = next;
  });
}

const always = (see: (before: InstanceRecord, after: InstanceRecord, step: Step) => void): void =>
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => life(steps, see)));

describe("the life of an instance, under random events", () => {
  test("REG-2 R1: nothing but a registration leads back from offline, and then the epoch is higher", () => {
    always((before, after, one) => {
      if (before.state !== "offline" || after.state === "offline") return;
      expect("register" in one).toBe(true);
      expect(after.epoch).toBe(before.epoch + 1);
    });
  });

  test("R2: the epoch rises by one with each registration from elsewhere, and by nothing else", () => {
    always((before, after, one) => {
      const rises = "register" in one && (!one.register.sameLink || before.state === "offline");
      expect(after.epoch).toBe(before.epoch + (rises ? 1 : 0));
    });
  });

  test("LIVE-8 R3: in one epoch, draining leads nowhere but to offline", () => {
    always((before, after) => {
      if (before.state !== "draining" || before.epoch !== after.epoch) return;
      expect(["draining", "offline"]).toContain(after.state);
    });
  });

  test("R4: only a goodbye or the end of grace makes an instance offline, and never an online one by its grace", () => {
    always((before, after, one) => {
      if (before.state === "offline" || after.state !== "offline") return;
      const type = "event" in one ? one.event.type : "register";
      expect(["graceExpired", "goodbye"]).toContain(type);
      if (before.state === "online") expect(type).toBe("goodbye");
    });
  });

  test("`since` moves exactly when the state or the epoch does", () => {
    always((before, after) => {
      if (before.state === after.state && before.epoch === after.epoch) expect(after.since).toBe(before.since);
      else expect(after.since).toBeGreaterThan(before.since);
    });
  });
});

describe("single steps", () => {
  const at = (state: InstanceRecord["state"]): InstanceRecord => ({ ...started(), state });
  const stateAfter = (state: InstanceRecord["state"], event: LeaseEvent): string => {
    const outcome = transition(at(state), event, 5_000);
    return outcome.ok ? outcome.record.state : `no: ${outcome.reason}`;
  };

  test("LIVE-1: online, suspect, offline; and back from suspect by a renewal", () => {
    expect(stateAfter("online", { type: "expired" })).toBe("suspect");
    expect(stateAfter("suspect", { type: "renewed" })).toBe("online");
    expect(stateAfter("suspect", { type: "graceExpired" })).toBe("offline");
    expect(stateAfter("draining", { type: "graceExpired" })).toBe("offline");
  });

  test("LIVE-2: a lost link makes suspect, a goodbye makes offline at once", () => {
    expect(stateAfter("online", { type: "lost", reason: "closed" })).toBe("suspect");
    expect(stateAfter("online", { type: "goodbye", reason: "done" })).toBe("offline");
    expect(stateAfter("draining", { type: "lost", reason: "closed" })).toBe("draining");
  });

  test("what does not fit is refused with a reason", () => {
    expect(stateAfter("offline", { type: "renewed" })).toMatch(/register again/);
    expect(stateAfter("offline", { type: "drain", reason: "deploy" })).toMatch(/offline already/);
    expect(stateAfter("online", { type: "graceExpired" })).toMatch(/has a lease/);
  });

  test("a transition changes nothing in the record that it was given", () => {
    const record = Object.freeze(at("online"));
    expect(transition(record, { type: "expired" }, 5_000)).toMatchObject({ ok: true, record: { since: 5_000 } });
    expect(record.state).toBe("online");
  });

  test("a new instance begins above the floor of epochs that were given before", () => {
    expect(registered(newInstance(id), undefined, false, 7, 1_000).epoch).toBe(8);
  });
});
