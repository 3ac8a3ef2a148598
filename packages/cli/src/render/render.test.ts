import type { Agent, Decision, Discovery, JournalEvent, Task, Trace } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { renderAgent, renderAgents } from "./agents.js";
import { renderDiscovery } from "./discovery.js";
import { renderView } from "./generic.js";
import { createPaint, wantsColor } from "./paint.js";
import { renderTable, shorten } from "./table.js";
import { renderTask, renderTasks } from "./tasks.js";
import { formatAge, formatDuration } from "./time.js";
import { renderTrace, slowHops } from "./timeline.js";
import { explainWhyNot, renderWhy } from "./why.js";

const paint = createPaint(false);
const now = Date.parse("2026-11-29T10:00:00.000Z");
const at = (ms: number) => new Date(now + ms).toISOString();
const instanceId = "0199a5c2-6f0e-7c11-9b1e-2f0d5a7c1e42";
const otherInstance = "1199a5c2-6f0e-7c11-9b1e-2f0d7d8e9f00";

const agent: Agent = {
  agentId: "order-agent-01",
  version: 3,
  card: {
    agentId: "order-agent-01",
    name: "订单状态",
    capabilities: [{ name: "query_order", description: "查询订单", tags: ["commerce/order"], idempotent: true }],
  },
  state: "online",
  instances: [
    {
      instanceId,
      epoch: 1,
      state: "online",
      since: at(-60_000),
      lastHeartbeatAt: at(-5000),
      health: 1,
      load: { running: 2, queued: 1, load: 0.3 },
      node: "node-1",
    },
  ],
};

const candidate = (
  agentId: string,
  instance: string,
  score: number,
  verdict: Decision["candidates"][number]["verdict"],
) => ({
  agentId,
  instanceId: instance,
  capability: "query_order",
  match: 1,
  score,
  reasons: ["name"],
  facts: {
    state: "online" as const,
    p50Ms: 12,
    successRate: 0.99,
    running: 1,
    queued: 0,
    load: 0.1,
    costTier: "low" as const,
    health: 1,
  },
  verdict,
});

const decision = (attempt: number, candidates: Decision["candidates"]): Decision => ({
  decisionId: "d",
  messageId: instanceId,
  traceId: "0".repeat(32),
  attempt,
  at: at(attempt),
  tookMs: 0.1,
  request: { capability: "query_order" },
  candidates,
});

describe("tables", () => {
  it("keep columns under each other when cells hold Chinese", () => {
    const lines = renderTable(
      ["NAME", "NEXT"],
      [
        ["订单", "x"],
        ["ab", "y"],
      ],
      paint,
    ).split("\n");
    // Two Chinese characters are four columns wide, so "ab" takes two blanks more.
    expect(lines.slice(1, 3)).toEqual(["订单  x", "ab    y"]);
  });

  it("let no cell break the table or speak to the terminal", () => {
    const text = renderTable(["A"], [["one\ntwo\u001b]0;title\u0007"]], paint);
    expect(text).toBe("A\none two ]0;title\n");
  });

  it("cut by characters, not in the middle of one", () => {
    expect(shorten("😀😀😀", 2)).toBe("😀…");
    expect(shorten("abc", 3)).toBe("abc");
  });
});

describe("times", () => {
  it.each([
    [7, "7 ms"],
    [1234, "1.2 s"],
    [59_400, "59 s"],
    [250_000, "4 m 10 s"],
    [7_500_000, "2 h 5 m"],
    [86_400_000 * 3 + 3_600_000 * 4, "3 d 4 h"],
  ])("%s ms is %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("are told from now, in both directions", () => {
    expect(formatAge(at(-5000), now)).toBe("5.0 s ago");
    expect(formatAge(at(5000), now)).toBe("in 5.0 s");
    expect(formatAge(undefined, now)).toBe("-");
  });
});

describe("colours", () => {
  it("obey NO_COLOR and --no-color before anything else", () => {
    expect(wantsColor({ color: true, env: {}, isTty: true })).toBe(true);
    expect(wantsColor({ color: true, env: { NO_COLOR: "1", FORCE_COLOR: "1" }, isTty: true })).toBe(false);
    expect(wantsColor({ color: false, env: {}, isTty: true })).toBe(false);
    expect(wantsColor({ color: true, env: {}, isTty: false })).toBe(false);
    expect(wantsColor({ color: true, env: { FORCE_COLOR: "1" }, isTty: false })).toBe(true);
  });
});

describe("agents", () => {
  it("OBS-2: show who is online, what they run and offer, and when they were last heard", () => {
    const line = renderAgents([agent], now, paint).split("\n")[1];
    expect(line).toMatch(/^order-agent-01 +online +1 +2\/1 +5\.0 s ago +query_order$/);
  });

  it("show one with its capabilities and instances", () => {
    const text = renderAgent(agent, now, paint);
    expect(text).toContain("order-agent-01 (订单状态)");
    expect(text).toMatch(/query_order +- +yes +commerce\/order +查询订单/);
    expect(text).toMatch(new RegExp(`${instanceId} +online +1 m ago +5.0 s ago +1 +2/1 +1.00 +node-1`));
    expect(text).not.toContain("no new work");
    expect(text).not.toContain("topics");
  });

  it("say what may keep the capabilities of one from being found (REG-12)", () => {
    const warnings = [
      "examples: none for query_order.",
      'name: "query_order" seems to mean the same\u001b[2J as "orders".',
    ];
    const text = renderAgent({ ...agent, warnings }, now, paint);
    expect(text).toMatch(/^warning: examples: none for query_order\.$/m);
    expect(text).toMatch(/^warning: name: "query_order" seems/m);
    expect(text).not.toContain("\u001b");
    expect(renderAgent(agent, now, paint)).not.toContain("warning");
  });

  it("say what one subscribes to (DLV-16)", () => {
    const text = renderAgent({ ...agent, topics: ["orders.paid", "orders.shipped"] }, now, paint);
    expect(text).toMatch(/^topics +orders\.paid, orders\.shipped$/m);
  });

  it("say who gets no new work for having come and gone too often (LIVE-6)", () => {
    const flapping = { losses: 5, restsUntil: at(20_000) };
    const text = renderAgent({ ...agent, instances: [{ ...agent.instances[0]!, flapping }] }, now, paint);
    expect(text).toContain(`${instanceId} lost its lease 5 times in two minutes: no new work until ${at(20_000)}.`);
  });
});

describe("RES-1: a breaker that is not closed", () => {
  const breaker = {
    capability: "query_order",
    state: "half_open" as const,
    failures: 9,
    outcomes: 12,
    windowMs: 60_000,
    lastFailure: "TIMEOUT",
    brokenForMs: 4_200,
    probeInMs: 0,
  };
  const broken = { ...agent, instances: [{ ...agent.instances[0]!, breakers: [breaker] }] };

  it("is shown in the list, and with its cause where one agent is shown", () => {
    expect(renderAgents([broken], now, paint)).toMatch(/order-agent-01 +online, 1 broken/);
    expect(renderAgent(broken, now, paint)).toMatch(
      /5a7c1e42 +query_order +half-open +9 of 12 failed, last TIMEOUT +4\.2 s +0 ms/,
    );
    expect(renderAgent(agent, now, paint)).not.toContain("BREAKER");
  });
});

describe("discovery", () => {
  const misses = [{ agentId: "order-agent-02", capability: "query_order", match: 0.9, why: "draining" as const }];
  const { verdict: _, ...found } = candidate("order-agent-01", instanceId, 0.81, "chosen");

  it("shows facts, and who was left out and why, when asked to explain", () => {
    const discovery: Discovery = { candidates: [found], verdict: "match", misses, decisionId: "d" };
    const text = renderDiscovery(discovery, { explain: true }, paint);
    expect(text).toMatch(/12 ms +99% +1\/0 +10% +low +1\.00 +name/);
    expect(text).toMatch(/order-agent-02 +query_order +90% +is draining/);
    expect(renderDiscovery(discovery, { explain: false }, paint)).not.toContain("order-agent-02");
  });

  it("says why nobody is able even without being asked", () => {
    const text = renderDiscovery(
      { candidates: [], verdict: "unavailable", misses, decisionId: "d" },
      { explain: false },
      paint,
    );
    expect(text).toContain("nobody is able right now");
    expect(text).toContain("is draining");
  });

  it("CAT-4: says what kept the fine stage from having a look at what was refused", () => {
    const notes = ["without the fine stage: rate_limited"];
    const refused = { candidates: [], verdict: "no_match" as const, misses: [], decisionId: "d", notes };
    expect(renderDiscovery(refused, { explain: false }, paint)).toContain("without the fine stage: rate_limited");
  });
});

describe("why", () => {
  const first = decision(1, [
    candidate("a", instanceId, 0.9, "chosen"),
    candidate("b", otherInstance, 0.7, "lower_score"),
    candidate("c", otherInstance, 0, "suspect"),
  ]);
  const second = decision(2, [candidate("b", otherInstance, 0.7, "chosen")]);

  it("ROUTE-7: tells each attempt in sentences: chosen, rivals, left out, how it ended, and whether the instance changed", () => {
    const [one, two] = renderWhy([second, first], new Map([[1, "no_ack"]]), paint).split("\n");
    expect(one).toBe(
      "Attempt 1: a (5a7c1e42) was chosen for query_order, with the best score of 0.900 among 2 (found by name): " +
        "p50 12 ms, 99% success, load 10%, cost low. b (7d8e9f00) scored 0.700; " +
        "c (7d8e9f00) is suspect: its heartbeats or its connection are missing. It ended: no ack.",
    );
    expect(two).toBe(
      "Attempt 2: b (7d8e9f00) was chosen for query_order, another instance than before, the only one able to (found by name).",
    );
  });

  it("ROUTE-7: tells what the attempt before ended in and why another instance has it now", () => {
    const previous = { attempt: 1, agentId: "a", instanceId, outcome: "refused", code: "BROKEN" };
    const told = (more: object, rest = {}) =>
      renderWhy([{ ...second, ...rest, previous: { ...previous, ...more } }], new Map(), paint);
    expect(told({ moved: true, verdict: "cool_down" })).toContain(
      "b (7d8e9f00) was chosen for query_order, another instance than before: " +
        "attempt 1 ended as refused (BROKEN), and a (5a7c1e42) is passed over, the only one able to",
    );
    expect(told({ moved: true, verdict: "breaker_open" })).toContain("its breaker is open");
    expect(told({ moved: true, verdict: "lower_score" })).toContain("a (5a7c1e42) was not preferred");
    expect(told({ moved: true })).toContain("a (5a7c1e42) no longer offers it");
    expect(told({ moved: false })).toContain("the same instance as before, after attempt 1 ended as refused (BROKEN)");
    const { candidates } = first;
    expect(told({ moved: true, verdict: "offline" }, { candidates })).toContain("as the least loaded of 2");
    expect(renderWhy([{ ...first, probe: true }], new Map(), paint)).toContain(
      "as a probe of whether it is well again",
    );
    expect(renderWhy([{ ...first, panic: true }], new Map(), paint)).toMatch(
      /a \(5a7c1e42\) was chosen for query_order, though only \d+% of its recent attempts succeeded, since nobody better is able/,
    );
  });

  it("says that nobody could, and counts whom it does not list", () => {
    const many = Array.from({ length: 7 }, (_, index) => candidate(`x${index}`, instanceId, 0, "full"));
    const text = renderWhy([{ ...decision(1, many), omitted: 3 }], new Map(), paint);
    expect(text).toContain("nobody could take query_order");
    expect(text).toContain("5 more were left out");
  });

  it("ROUTE-7: answers why-not for one agent", () => {
    expect(explainWhyNot("b", [first])).toBe(
      "b was not chosen in attempt 1: it scored 0.700; a was chosen with 0.900.",
    );
    expect(explainWhyNot("c", [first])).toContain("it is suspect");
    expect(explainWhyNot("a", [first])).toBe("a was chosen, in attempt 1.");
    expect(explainWhyNot("z", [first])).toBeUndefined();
  });

  it("says a verdict of a newer node as it is", () => {
    const odd = { ...candidate("c", instanceId, 0, "full"), verdict: "on_holiday" as never };
    expect(renderWhy([decision(1, [odd])], new Map(), paint)).toContain("c (5a7c1e42) on holiday");
  });
});

describe("timelines", () => {
  const event = (id: number, ms: number, type: string, more: Partial<JournalEvent> = {}): JournalEvent => ({
    id,
    at: at(ms),
    type,
    messageId: instanceId,
    ...more,
  });
  const events = [
    event(1, 0, "message.arrived"),
    event(2, 5, "message.sent", {
      decision: decision(1, [candidate("a", instanceId, 1, "chosen"), candidate("b", otherInstance, 0, "full")]),
      attempt: 1,
      agentId: "order-agent-01",
      instanceId,
    }),
    event(3, 6, "message.arrived", { messageId: otherInstance }),
    event(4, 4005, "message.completed", { bytes: 70 } as Partial<JournalEvent>),
  ];
  const trace: Trace = {
    traceId: "0".repeat(32),
    startedAt: at(0),
    durationMs: 4005,
    messages: [{ messageId: instanceId }, { messageId: otherInstance, parentId: instanceId }],
    events,
  };

  it("OBS-1, OBS-7: show times from the start, nesting, and hops over 3 s", () => {
    const lines = renderTrace(trace, paint).split("\n");
    expect(lines[2]).toBe("took   4.0 s, 2 messages, 4 events, 1 hop over 3 s");
    expect(lines[5]).toMatch(/^\+ {4}0 ms {2}message\.arrived +5a7c1e42$/);
    expect(lines[6]).toMatch(
      /^\+ {4}5 ms {2}message\.sent #1 +5a7c1e42 +order-agent-01 5a7c1e42 {2}1 able, 1 left out$/,
    );
    expect(lines[7]).toMatch(/^\+ {4}6 ms {4}message\.arrived/);
    expect(lines[8]).toContain("slow: 4.0 s  bytes=70");
  });

  it("measure a hop within its own message only", () => {
    expect([...slowHops(events)]).toEqual([[4, 4000]]);
    expect(slowHops([event(1, 0, "a"), event(2, 3000, "b")]).size).toBe(0);
  });

  it("do not hang on messages that name each other as parents", () => {
    const messages = [
      { messageId: instanceId, parentId: otherInstance },
      { messageId: otherInstance, parentId: instanceId },
    ];
    expect(renderTrace({ ...trace, messages }, paint)).toContain("message.arrived");
  });
});

describe("tasks", () => {
  const task: Task = {
    messageId: instanceId,
    traceId: "0".repeat(32),
    kind: "task",
    state: "failed",
    capability: "query_order",
    agentId: "order-agent-01",
    instanceId,
    attempt: 1,
    attempts: [
      {
        attempt: 1,
        agentId: "order-agent-01",
        instanceId,
        sentAt: at(-900),
        acceptedAt: at(-890),
        endedAt: at(-400),
        outcome: "failed",
      },
    ],
    createdAt: at(-1000),
    deadlineAt: at(86_400_000),
    error: {
      code: "AGENT_ERROR",
      message: "[AGENT_ERROR] no such order",
      retryable: false,
      outcome: "executed",
      details: { code: "NOT_THERE" },
    },
  };

  it("show what went wrong in the list", () => {
    expect(renderTasks([task], now, paint)).toMatch(
      /failed +query_order +order-agent-01 +1 +1\.0 s ago +AGENT_ERROR NOT_THERE: no such order/,
    );
  });

  it("show each attempt with its times", () => {
    expect(renderTask(task, now, paint)).toMatch(/1 +order-agent-01 +5a7c1e42 +\S+ +\+10 ms +\+500 ms +failed/);
  });
});

describe("views of any shape", () => {
  it("become tables and fields, with ages and durations", () => {
    const text = renderView(
      {
        dead: 2,
        queues: [{ capability: "q", waiting: 3, oldestAt: at(-2000), oldestAgeMs: 2000 }],
        totals: { waiting: 3 },
      },
      now,
      paint,
    );
    expect(text).toMatch(/^dead {2}2\n/);
    expect(text).toMatch(/CAPABILITY +WAITING +OLDEST +OLDEST AGE\nq +3 +2\.0 s ago +2\.0 s/);
    expect(text).toContain("waiting  3");
  });
});
