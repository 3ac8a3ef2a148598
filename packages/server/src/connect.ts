import type { Catalog } from "./catalog/catalog.js";
import type { Journal } from "./journal/journal.js";
import type { Registry } from "./registry/registry.js";
import type { Admission } from "./router/admission.js";
import type { Calls } from "./router/calls.js";
import type { Router } from "./router/router.js";
import type { Dispatcher } from "./tasks/dispatcher.js";

export interface Connected {
  registry: Registry;
  catalog: Catalog;
  router: Router;
  admission: Admission;
  calls: Calls;
  dispatcher: Dispatcher;
  journal: Journal;
  onError: (error: unknown) => void;
}

/**
 * Who hears of what: arrivals and departures are told to everyone who waits for them. The registry stands lowest and knows
 * none of those above it, so this is said here.
 */
export function connect({
  registry,
  catalog,
  router,
  admission,
  calls,
  dispatcher,
  journal,
  onError,
}: Connected): void {
  registry.warningsOf = (card, isKnown) => catalog.warningsOf(card, isKnown);
  router.breakers.onChange((instance, { state, ...change }) => journal.note(`breaker.${state}`, instance, change));
  router.breakers.onRoom((instance) => admission.room(instance));
  registry.onChange(({ agent, instance, before, removed }) => {
    if (agent !== undefined) dispatcher.changed(agent.record.agentId);
    if (instance === undefined) return;
    const { record } = instance;
    catalog.changed(instance);
    if (record.state !== before || removed) {
      const event = removed ? "instance.removed" : `instance.${record.state}`;
      journal.note(event, instance, { reason: record.reason, epoch: record.epoch });
    }
    if (removed || record.state === "offline") {
      dispatcher.departed(record.instanceId);
      for (const attempt of [...instance.held]) attempt.lost();
    }
    // It may take work now; or somebody waits for it alone, and may go elsewhere from now on.
    if (record.state !== "online" || instance.link !== undefined) admission.room(instance);
  });
  registry.onArrival((instance, anew) => {
    if (!anew) return admission.room(instance);
    router.breakers.renewed(instance);
    const siblings = registry.view.agent(instance.record.tenant, instance.record.agentId)?.instances ?? [];
    dispatcher.arrived(instance, siblings).catch(onError);
  });
  dispatcher.onSettled(({ messageId, error }) => calls.taskEnded(messageId, error?.code));
  admission.onHeldBack(({ capability, limit, isNarrow, latency: { normalMs } }) => {
    journal.note(isNarrow ? "bulkhead.narrowed" : "bulkhead.restored", undefined, { capability, limit, normalMs });
  });
}
