import type { JournalEvent } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import type { FakeReply } from "../../../../test/kit/fake-reply.js";
import { card, type FakeAgent, FakeRooms } from "../../../../test/kit/fake-rooms.js";
import { COOL_DOWN_MIN_MS, PROBE_MS } from "./breaker.js";

let rooms: FakeRooms;
let events: (JournalEvent & Record<string, unknown>)[];
const open = async (options = {}): Promise<void> => {
  rooms = await FakeRooms.open({ call: { timeoutMs: 10_000 }, ...options });
  events = [];
  rooms.journal.listen((event) => {
    if (event.type.startsWith("breaker.")) events.push(event as (typeof events)[number]);
  });
};
beforeEach(() => open());

const join = (id = "a1", more = {}): Promise<FakeAgent> => rooms.join(card(id, ["query", "other"], more));
const breakerOf = ({ instance }: FakeAgent) => instance.offers[0]!.breaker;
const call = (more = {}): FakeReply => rooms.call({ capability: "query", ...more });
/** Ten calls to this agent which are never acknowledged. */
const hang = async (agent: FakeAgent): Promise<FakeReply[]> => {
  const replies = [];
  for (let i = 0; i < 10; i++) replies.push(call({ target: { agentId: agent.instance.record.agentId } }));
  while (agent.link.waiting > 0) agent.link.next();
  await rooms.pass(5_010);
  return replies;
};
const cooledDown = () => rooms.pass(COOL_DOWN_MIN_MS + 10);
const verdict = ({ failure }: FakeReply) => [failure.code, failure.outcome, failure.retryable];

describe("RES-1: calls to an instance that fails", () => {
  test("fail at once while its breaker is open, with the time of the next probe, and hear why", async () => {
    const agent = await join();
    for (const reply of await hang(agent)) expect(verdict(reply)).toEqual(["DELIVERY_TIMEOUT", "unknown", false]);
    const reply = call();
    expect(verdict(reply)).toEqual(["UNAVAILABLE", "not_executed", true]);
    expect(reply.failure.retryAfterMs).toBeGreaterThan(COOL_DOWN_MIN_MS - 100);
    expect(reply.failure.retryAfterMs).toBeLessThanOrEqual(COOL_DOWN_MIN_MS);
    expect(reply.failure.details).toMatchObject({ waitedFor: [{ agentId: "a1", why: "breaker_open" }] });
    expect(agent.link.waiting).toBe(0);
  });

  test("of another capability of the same instance go on", async () => {
    const agent = await join();
    await hang(agent);
    const reply = rooms.call({ capability: "other" });
    agent.link.next().complete("well");
    expect(reply.data).toBe("well");
  });

  test("go to the others, who are not asked to wait for it", async () => {
    const bad = await join("bad");
    await hang(bad);
    const good = await join("good");
    for (let i = 0; i < 5; i++) {
      const reply = call();
      good.link.next().complete(i);
      expect(reply.data).toBe(i);
    }
    expect(bad.link.waiting).toBe(0);
  });

  test("that wait for a slot of it are told at once when it opens", async () => {
    const agent = await join();
    for (let i = 0; i < 10; i++) call();
    const waiting = call();
    await rooms.pass(5_010);
    expect(verdict(waiting)).toEqual(["UNAVAILABLE", "not_executed", true]);
    expect(agent.link.deliveries).toHaveLength(10);
    expect(rooms.admission.waiting("query")).toBe(0);
  });

  test("that may go nowhere else wait for whoever rests or is full, breaker or not", async () => {
    const bad = await join("bad");
    await hang(bad);
    const busy = await join("busy", { maxConcurrentTasks: 1 });
    const first = call();
    const second = call();
    expect([first.answers, second.answers]).toEqual([0, 0]);
    busy.link.next().refuse("OVERLOADED", 500);
    expect(verdict(first)).toEqual(["OVERLOADED", "not_executed", true]);
    await rooms.pass(600);
    busy.link.next().complete("after its rest");
    expect(second.data).toBe("after its rest");
  });

  test("are counted by the answer's absence alone: switched off, nothing is held back", async () => {
    await open({ breaker: { enabled: false } });
    const agent = await join();
    await hang(agent);
    call();
    expect(agent.link.waiting).toBe(1);
    expect(events).toEqual([]);
  });
});

describe("R03: when the cool-down is over", () => {
  test("one of two hundred callers is the probe, the others fail at once; a hung probe is a failure, and the next period has its own", async () => {
    const agent = await join();
    await hang(agent);
    await cooledDown();
    for (const period of [1, 2]) {
      const replies = Array.from({ length: 200 }, () => call());
      expect(agent.link.waiting).toBe(1);
      agent.link.next();
      const told = replies.filter(({ answers }) => answers === 1);
      expect(told).toHaveLength(199);
      for (const reply of told) expect(verdict(reply)).toEqual(["UNAVAILABLE", "not_executed", true]);
      await rooms.pass(5_010);
      expect(replies.filter(({ answers }) => answers === 1)).toHaveLength(200);
      expect(breakerOf(agent).state).toBe("open");
      expect(events.at(-1)).toMatchObject({ type: "breaker.open", trigger: "probe_failed" });
      if (period === 1) await cooledDown();
    }
    expect(agent.instance.running).toBe(0);
  });

  test("a probe that succeeds opens the way for all, also where its outcomes so far would keep it out for its health", async () => {
    const agent = await join();
    for (let i = 0; i < 20; i++) {
      call();
      await agent.link.next().complete();
    }
    await hang(agent);
    expect(agent.instance.offers[0]!.measured.successRate(rooms.system.monotonic())).toBeLessThan(0.8);
    await cooledDown();
    call();
    await agent.link.next().complete();
    expect(breakerOf(agent).state).toBe("closed");
    const replies = Array.from({ length: 10 }, () => call());
    while (agent.link.waiting > 0) void agent.link.next().complete("again");
    for (const reply of replies) expect(reply.data).toBe("again");
  });

  test("the probe is the first message that fits, though others have better scores; its record says so", async () => {
    const bad = await join("bad");
    await hang(bad);
    const good = await join("good");
    for (let i = 0; i < 20; i++) {
      call();
      await good.link.next().complete();
    }
    await cooledDown();
    const reply = call();
    const delivery = bad.link.next();
    const decision = rooms.journal.find(delivery.message.messageId)!.detailOf(["decision"]);
    expect((decision as { toShape(): unknown }).toShape()).toMatchObject({ probe: true, chosen: { agentId: "bad" } });
    delivery.complete("well");
    expect(reply.data).toBe("well");
  });

  test("a probe whose caller gave up decides nothing, and the next message is the probe", async () => {
    const agent = await join();
    await hang(agent);
    await cooledDown();
    const messageId = rooms.system.newId();
    call({ messageId });
    const delivery = agent.link.next();
    rooms.calls.cancel({ ...rooms.calls.open(messageId)!.request.caller }, messageId, "changed my mind");
    delivery.fail({ code: "CANCELED", message: "stopped" });
    expect(breakerOf(agent).state).toBe("half_open");
    call();
    await agent.link.next().complete();
    expect(breakerOf(agent).state).toBe("closed");
  });

  test("an agent that answers a withdrawn call by an error has not succeeded by that", async () => {
    const agent = await join();
    for (let i = 0; i < 10; i++) call({ timeoutMs: 1_000 });
    const deliveries = [...agent.link.deliveries];
    for (const delivery of deliveries.slice(0, 9)) delivery.accept();
    await rooms.pass(1_010);
    expect(breakerOf(agent).state).toBe("open");
    for (const delivery of deliveries.slice(9)) delivery.fail({ code: "CANCELED", message: "stopped" });
    expect(breakerOf(agent).state).toBe("open");
  });
});

describe("R05: what is no technical failure leaves a healthy agent in work", () => {
  test("bad input, business errors, cancellations, refusals for want of room and hasty callers", async () => {
    await rooms.join(
      card("a1", [{ name: "query", inputSchema: { type: "object", required: ["id"] } }], { maxConcurrentTasks: 100 }),
    );
    const [live] = [...rooms.registry.view.instances.values()];
    const link = live!.link as FakeAgent["link"];
    const good = { input: { id: 1 } };
    for (let i = 0; i < 2; i++) {
      call(good);
      await rooms.pass(100);
      await link.next().complete();
    }
    for (let i = 0; i < 50; i++) {
      expect(call().failure.code).toBe("INVALID_INPUT");
      call(good);
      await rooms.pass(100);
      link.next().fail({ code: "NO_SUCH_ORDER", message: "no such order" });
      const messageId = rooms.system.newId();
      call({ ...good, messageId });
      rooms.calls.cancel(rooms.calls.open(messageId)!.request.caller, messageId, "enough");
      link.next();
      call(good);
      link.next().refuse("OVERLOADED");
      call(good);
      link.next().refuse("DRAINING");
      const hasty = call({ ...good, timeoutMs: 20 });
      link.next();
      await rooms.pass(40);
      expect(hasty.failure.code).toBe("DELIVERY_TIMEOUT");
    }
    expect(live!.offers[0]!.breaker).toMatchObject({ state: "closed", lastFailure: undefined });
    const reply = call(good);
    await link.next().complete("still here");
    expect(reply.data).toBe("still here");
  });

  test("time-outs of callers who gave it its usual time are failures", async () => {
    const agent = await join();
    call();
    await agent.link.next().complete();
    for (let i = 0; i < 10; i++) call({ timeoutMs: 50 });
    await rooms.pass(60);
    expect(breakerOf(agent)).toMatchObject({ state: "open", lastFailure: "DELIVERY_TIMEOUT" });
  });

  test("an endpoint that cannot be reached is a failure, though nothing was executed", async () => {
    const agent = await join();
    for (let i = 0; i < 10; i++) {
      const reply = call();
      agent.link.next().refuse("UNAVAILABLE");
      expect(verdict(reply)).toEqual(["UNAVAILABLE", "not_executed", true]);
    }
    expect(breakerOf(agent)).toMatchObject({ state: "open", lastFailure: "UNAVAILABLE" });
  });
});

describe("RES-1: an attempt that is lost", () => {
  test("is a failure where each message has its own request, as with a webhook", async () => {
    const agent = await join();
    for (let i = 0; i < 10; i++) call();
    for (const delivery of agent.link.deliveries) delivery.lose();
    expect(breakerOf(agent)).toMatchObject({ state: "open", lastFailure: "LOST" });
  });

  test("with its connection is a matter of the lease: a crash opens no breaker", async () => {
    const agent = await join("a1", { maxConcurrentTasks: 30 });
    for (let i = 0; i < 10; i++) call();
    for (let i = 0; i < 10; i++) await rooms.submit({ capability: "query" });
    await rooms.cut(agent);
    expect(breakerOf(agent).state).toBe("closed");
  });
});

describe("RES-1: tasks", () => {
  const submit = async (more = {}): Promise<string> => {
    const reply = await rooms.submit({ capability: "query", ...more });
    return String(reply.results[0]?.["messageId"]);
  };

  test("wait for the probe without spending an attempt; the first is it, and the rest follow its success", async () => {
    const agent = await join();
    await hang(agent);
    const ids = [await submit(), await submit(), await submit()];
    expect(await Promise.all(ids.map((id) => rooms.state(id)))).toEqual(["queued", "queued", "queued"]);
    await cooledDown();
    expect(agent.link.waiting).toBe(1);
    await agent.link.next().complete();
    await rooms.pass(0);
    expect(agent.link.waiting).toBe(2);
    for (let i = 0; i < 2; i++) await agent.link.next().complete();
    for (const id of ids) expect(await rooms.task(id)).toMatchObject({ state: "completed", attempt: 1 });
    expect(agent.instance.running).toBe(0);
  });

  test("that are not acknowledged or stall open it", async () => {
    const agent = await join("a1", { maxConcurrentTasks: 30 });
    for (let i = 0; i < 10; i++) await submit({ onStalled: "fail", completionTimeoutMs: 2_000 });
    for (const delivery of [...agent.link.deliveries].slice(0, 5)) delivery.accept();
    await rooms.pass(2_500);
    expect(breakerOf(agent).state).toBe("closed");
    await rooms.pass(3_000);
    expect(breakerOf(agent)).toMatchObject({ state: "open", volume: 10, failures: 10 });
    expect(events).toMatchObject([{ type: "breaker.open", lastFailure: "DELIVERY_TIMEOUT" }]);
  });

  test("LIVE-10: that are done by `complete` count as successes like those that are answered at once", async () => {
    const agent = await join();
    const id = await submit();
    const delivery = agent.link.next();
    delivery.accept();
    await rooms.pass(700);
    await rooms.complete(agent, delivery);
    expect(await rooms.complete(agent, delivery)).toBe("SETTLED");
    expect(await rooms.state(id)).toBe("completed");
    const [offer] = agent.instance.offers;
    expect(offer!.measured.p50Ms()).toBe(700);
    expect(offer!.breaker.outcomes.filter((at) => at !== 0)).toHaveLength(1);
  });

  test("B4: a task that works for long as the probe keeps the next one back for half a minute", async () => {
    const agent = await join();
    await hang(agent);
    const first = await submit();
    await submit();
    await cooledDown();
    const probe = agent.link.next();
    probe.accept();
    await rooms.pass(PROBE_MS - 1_000);
    rooms.registry.renew(agent.instance);
    expect(agent.link.waiting).toBe(0);
    await rooms.pass(1_100);
    expect(agent.link.waiting).toBe(1);
    await rooms.complete(agent, probe);
    expect(await rooms.state(first)).toBe("completed");
    expect(breakerOf(agent).state).toBe("closed");
  });
});

describe("RES-1: every change is recorded with its trigger and how things stood", () => {
  test("in the order in which they came, as events of the node", async () => {
    const agent = await join();
    await hang(agent);
    await cooledDown();
    call();
    await agent.link.next().complete();
    const of = { agentId: "a1", instanceId: agent.registered.instanceId, capability: "query" };
    const stood = { failures: 10, outcomes: 10, windowMs: 60_000, lastFailure: "DELIVERY_TIMEOUT" };
    expect(events).toMatchObject([
      { type: "breaker.open", trigger: "failures", ...of, ...stood, brokenForMs: 0, probeInMs: COOL_DOWN_MIN_MS },
      { type: "breaker.half_open", trigger: "cool_down_over", ...of, ...stood, probeInMs: 0 },
      { type: "breaker.closed", trigger: "probe_succeeded", ...of, ...stood },
    ]);
    expect(rooms.router.breakers.counts).toEqual({ open: 1, half_open: 1, closed: 1 });
  });

  test("of an instance that is gone nothing more is told", async () => {
    const agent = await join();
    await hang(agent);
    await rooms.registry.deregister(agent.instance, "done");
    await cooledDown();
    expect(events.map(({ type }) => type)).toEqual(["breaker.open"]);
  });
});

describe("RES-1: a registration", () => {
  const again = (agent: FakeAgent, capabilities: Parameters<typeof card>[1], link?: FakeAgent["link"]) =>
    rooms.join(card("a1", capabilities), { ...agent.registered, ...(link && { link }) });

  test("over the same connection, with the same card or another, leaves the breaker as it is", async () => {
    const agent = await join();
    await hang(agent);
    await again(agent, ["query", "other"], agent.link);
    expect(breakerOf(agent).state).toBe("open");
    await again(agent, ["query", "other", "third"], agent.link);
    expect(breakerOf(agent).state).toBe("open");
    expect(verdict(call())).toEqual(["UNAVAILABLE", "not_executed", true]);
    await cooledDown();
    call();
    await agent.link.next().complete();
    expect(events.map(({ type }) => type)).toEqual(["breaker.open", "breaker.half_open", "breaker.closed"]);
  });

  test("under a new epoch begins closed: what failed was the run before", async () => {
    const agent = await join();
    await hang(agent);
    const next = await again(agent, ["query", "other"]);
    expect(events.at(-1)).toMatchObject({ type: "breaker.closed", trigger: "new_epoch" });
    const reply = call();
    await next.link.next().complete("new run");
    expect(reply.data).toBe("new run");
    await cooledDown();
    expect(events).toHaveLength(2);
  });
});

test("RES-1: switching on and off leaves no timer and no slot behind", async () => {
  const agent = await join();
  const idle = rooms.system.pending;
  await hang(agent);
  await cooledDown();
  call();
  await agent.link.next().complete();
  await rooms.pass(PROBE_MS + 10);
  rooms.registry.renew(agent.instance);
  expect(agent.instance.running).toBe(0);
  expect(rooms.system.pending).toBeLessThanOrEqual(idle);
  expect(rooms.trouble).toEqual([]);
});
