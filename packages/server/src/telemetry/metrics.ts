import { Counter, Gauge, Registry as PromRegistry } from "prom-client";
import type { Catalog } from "../catalog/catalog.js";
import type { Registry } from "../registry/registry.js";
import type { Admission } from "../router/admission.js";
import type { Breakers } from "../router/breakers.js";
import type { Calls } from "../router/calls.js";
import type { Dispatcher } from "../tasks/dispatcher.js";
import type { Tasks } from "../tasks/tasks.js";

export interface Measured {
  registry: Registry;
  catalog: Catalog;
  calls: Calls;
  tasks: Tasks;
  dispatcher: Dispatcher;
  breakers: Breakers;
  sessions: () => number;
  broken: () => number;
  /** Whether what is stored outlives the node. */
  durable: boolean;
  admission: Admission;
  doubts: () => boolean;
}

/**
 * Prometheus metrics. The rooms keep plain numbers, which cost nothing on the path of a call; they are read when
 * somebody asks. Labels are states and kinds, never ids, so that their number is bounded.
 */
export function createMetrics({
  registry,
  catalog,
  calls,
  tasks,
  dispatcher,
  breakers,
  sessions,
  broken,
  durable,
  admission,
  doubts,
}: Measured): {
  text: () => Promise<string>;
  contentType: string;
} {
  const registers = [new PromRegistry()];
  const prom = registers[0]!;
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const total = (name: string, help: string, read: () => number) => {
    let before = 0;
    return new Counter({
      name,
      help,
      registers,
      collect() {
        const now = read();
        this.inc(now - before);
        before = now;
      },
    });
  };

  gauge("agent_reach_sessions", "Open WebSocket sessions.", sessions);
  gauge("agent_reach_fleet_silent", "1 while most of the fleet fell silent at once and the node doubts itself.", () =>
    doubts() ? 1 : 0,
  );
  total("agent_reach_connections_broken_total", "Connections that ended by broken frames or a reset.", broken);
  gauge("agent_reach_store_durable", "1 if what is stored outlives the node, 0 on the memory engine.", () =>
    Number(durable),
  );
  gauge("agent_reach_calls_in_flight", "Calls that wait for a result.", () => calls.counts.inFlight);
  total("agent_reach_calls_total", "Calls taken.", () => calls.counts.started);
  total("agent_reach_calls_completed_total", "Calls answered with a result.", () => calls.counts.completed);
  total("agent_reach_calls_failed_total", "Calls answered with an error.", () => calls.counts.failed);
  const { counts: retries } = calls.retryBudget;
  total("agent_reach_call_retries_total", "Further attempts of calls.", () => retries.granted);
  total("agent_reach_call_retries_denied_total", "Retries over the budget, not made.", () => retries.denied);
  total("agent_reach_breakers_opened_total", "Times a circuit breaker opened.", () => breakers.counts.open);
  total("agent_reach_breakers_closed_total", "Times a circuit breaker closed.", () => breakers.counts.closed);
  total("agent_reach_task_deliveries_total", "Tasks sent to an instance.", () => dispatcher.counts.delivered);
  total("agent_reach_task_redeliveries_total", "Tasks sent again.", () => dispatcher.counts.redelivered);
  total("agent_reach_tasks_completed_total", "Tasks that succeeded.", () => dispatcher.counts.completed);
  total("agent_reach_tasks_failed_total", "Tasks that ended with a business error.", () => dispatcher.counts.failed);
  total("agent_reach_tasks_dead_total", "Tasks that became dead letters.", () => dispatcher.counts.dead);
  total(
    "agent_reach_task_gaps_total",
    "Tasks sent though numbers before them were missing.",
    () => dispatcher.counts.gaps,
  );

  new Gauge({
    name: "agent_reach_instances",
    help: "Instances by state.",
    labelNames: ["state"],
    registers,
    collect() {
      const counts = { online: 0, suspect: 0, draining: 0, offline: 0 };
      for (const { record } of registry.view.instances.values()) counts[record.state]++;
      for (const [state, n] of Object.entries(counts)) this.set({ state }, n);
    },
  });
  new Gauge({
    name: "agent_reach_capabilities_waiting",
    help: "Capabilities that cannot be found by meaning yet, by the stage that has not learnt them.",
    labelNames: ["stage"],
    registers,
    collect() {
      for (const [stage, n] of Object.entries(catalog.waiting)) this.set({ stage }, n);
    },
  });
  new Gauge({
    name: "agent_reach_breakers",
    help: "Circuit breakers of instances that are not offline, by state.",
    labelNames: ["state"],
    registers,
    collect() {
      const counts = { closed: 0, open: 0, half_open: 0 };
      for (const { record, offers } of registry.view.instances.values())
        if (record.state !== "offline") for (const { breaker } of offers) counts[breaker.state]++;
      for (const [state, n] of Object.entries(counts)) this.set({ state }, n);
    },
  });
  new Gauge({
    name: "agent_reach_tasks",
    help: "Tasks kept, by state.",
    labelNames: ["state"],
    registers,
    async collect() {
      const { byState } = await tasks.counts();
      for (const [state, n] of Object.entries(byState)) this.set({ state }, n);
    },
  });
  gauge("agent_reach_calls_waiting", "Calls that wait for a free instance.", () =>
    [...admission.lines().values()].reduce((a, b) => a + b, 0),
  );
  total(
    "agent_reach_calls_over_share_total",
    "Calls refused because their caller had as many of that capability in flight as it may.",
    () => admission.refused.share,
  );
  total(
    "agent_reach_messages_over_rate_total",
    "Calls and tasks refused by a rate limit.",
    () => admission.refused.rate,
  );
  gauge(
    "agent_reach_capabilities_held_back",
    "Capabilities that are slow, so that each caller may have fewer calls in flight.",
    () => admission.heldBack(),
  );
  gauge("agent_reach_resident_memory_bytes", "Memory of the node.", () => process.memoryUsage.rss());
  gauge(
    "agent_reach_cpu_seconds",
    "CPU time of the node.",
    () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
  );

  return { text: () => prom.metrics(), contentType: prom.contentType };
}
