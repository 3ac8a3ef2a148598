import { Dedupe } from "../../packages/sdk/src/dedupe.js";
import { TaskOrder } from "../../packages/server/src/engines/memory/task-order.js";
import type { House } from "../../packages/server/src/house.js";
import type { Link } from "../../packages/server/src/ports/delivery.js";
import type { TaskRecord } from "../../packages/server/src/ports/task-store.js";
import type { LiveInstance } from "../../packages/server/src/registry/instance.js";
import { Offer } from "../../packages/server/src/registry/instance.js";
import type { TaskEvent } from "../../packages/server/src/tasks/lifecycle.js";
import type { Process } from "./process.js";

/** A bug, put in on purpose by replacing one decision of the product; the simulation must find it. */
export interface Plant {
  readonly name: string;
  /** The seed from which on it is looked for: one that caught it, so that the test need not search long. */
  readonly from: number;
  /** The invariants any of which gives it away. */
  readonly breaks: readonly string[];
  /** Replaces decisions of one house, each time that it is built. */
  readonly house?: (house: House, process: Process) => void;
  /** Replaces what all objects of a class share, for as long as the run lasts; answers how to put it back. */
  readonly everywhere?: () => () => void;
}

/** A decision by its name: what is private is no less a decision. */
// biome-ignore lint/suspicious/noExplicitAny: whatever is replaced keeps the shape it had.
type Decisions = Record<string, any>;

const parts = (of: object): Decisions => of as Decisions;

export const plants: readonly Plant[] = [
  {
    name: "ack before commit",
    from: 1,
    breaks: ["no accepted task is lost"],
    house: ({ tasks }) => {
      const submit = tasks.submit.bind(tasks);
      tasks.submit = (request, reply) => {
        const { messageId, traceId } = request;
        reply.result(JSON.stringify({ messageId, traceId, state: "queued", duplicate: false }));
        return submit(request, { result: () => {}, error: () => {} }).catch(() => {});
      };
    },
  },
  {
    name: "dedupe on receipt",
    from: 1,
    breaks: ["an outcome is true", "a completed task was done"],
    everywhere: () =>
      replace(Dedupe.prototype, "find", (find) => {
        return function (this: Dedupe, key: string) {
          const known = find.call(this, key);
          if (known === undefined) this.keep(key, '{"execution":-1}', 0, 0);
          return known;
        };
      }),
  },
  {
    name: "stale epoch accepted",
    from: 36,
    breaks: ["nothing is delivered to whom the node knows to be gone"],
    house: ({ registry }) => {
      const register = registry.register.bind(registry);
      registry.register = async (request) => {
        const live = request.instanceId === undefined ? undefined : registry.view.instances.get(request.instanceId);
        const older = live?.link;
        const close = older?.close;
        if (older !== undefined) older.close = () => {};
        const done = await register(request);
        if (older !== undefined && live?.link !== older) {
          older.close = close!;
          live!.link = older satisfies Link;
        }
        return done;
      };
    },
  },
  {
    name: "missing fence on complete",
    from: 126,
    breaks: ["a failure counts from the newest attempt alone"],
    house: ({ dispatcher }) => {
      const commits = parts(dispatcher.commits);
      const write = commits["write"].bind(commits);
      commits["write"] = (task: { attempt: number }, event: TaskEvent, ...more: unknown[]) =>
        write(task, event.type === "failed" ? { ...event, attempt: task.attempt } : event, ...more);
    },
  },
  {
    name: "retry of a non-idempotent call",
    from: 35,
    breaks: ["what must not be done twice is not done twice"],
    everywhere: () => {
      const getter = Object.getOwnPropertyDescriptor(Offer.prototype, "idempotent")!;
      Object.defineProperty(Offer.prototype, "idempotent", { ...getter, get: () => true });
      return () => Object.defineProperty(Offer.prototype, "idempotent", getter);
    },
  },
  {
    name: "lost hand-back",
    from: 938,
    breaks: ["what was handed back was never begun"],
    house: ({ dispatcher }) => {
      dispatcher.losses.handBack = () => {};
    },
  },
  {
    name: "order tracker moved early",
    from: 1,
    breaks: ["tasks of one order go one after another", "two of one order are never in hands at once"],
    everywhere: () => {
      // What was sent counts as ended, so the next one may go.
      return replace(TaskOrder.prototype, "put", (put) => {
        return function (this: TaskOrder, task: TaskRecord) {
          const out = task.state === "delivered" || task.state === "working";
          put.call(this, out ? { ...task, state: "completed" } : task);
        };
      });
    },
  },
  {
    name: "lease by wall clock",
    from: 224,
    breaks: ["nobody loses a lease that he keeps"],
    house: ({ registry, reaper }, process) => {
      const offsetAt = new WeakMap<LiveInstance, number>();
      const offset = () => process.now() - process.monotonic();
      const renewAll = registry.renewAll.bind(registry);
      registry.renewAll = (instances) => {
        const all = [...instances];
        for (const live of all) offsetAt.set(live, offset());
        renewAll(all);
      };
      const heardAt = parts(reaper)["heardAt"].bind(reaper);
      parts(reaper)["heardAt"] = (live: LiveInstance) => heardAt(live) - (offset() - (offsetAt.get(live) ?? offset()));
    },
  },
  {
    name: "breaker counting business errors",
    from: 30,
    breaks: ["a breaker opens for technical failures alone"],
    house: ({ calls, dispatcher, router: { breakers } }) => {
      const succeeded = breakers.succeeded.bind(breakers);
      const asFailure = (hear: () => void) => {
        breakers.succeeded = (offer, sentAt, now) => breakers.failed(offer, sentAt, "AGENT_ERROR", now);
        hear();
        breakers.succeeded = succeeded;
      };
      const sender = parts(parts(calls)["sender"]);
      const failed = sender["failed"].bind(sender);
      sender["failed"] = (...said: unknown[]) => asFailure(() => failed(...said));
      const heard = dispatcher.results.heard.bind(dispatcher.results);
      dispatcher.results.heard = (run, result) =>
        result.error === undefined ? heard(run, result) : asFailure(() => heard(run, result));
    },
  },
  {
    name: "nested call forgotten by its parent",
    from: 1,
    breaks: ["no nested call outlives its parent"],
    house: ({ calls }) => {
      parts(parts(calls)["endings"])["children"].leave = () => [];
    },
  },
  {
    name: "publish expanded again",
    from: 71,
    breaks: ["a publish is expanded once"],
    house: ({ rooms: { publisher } }) => {
      parts(publisher)["earlier"] = async () => undefined;
    },
  },
  {
    name: "key ignored by the router",
    from: 10,
    breaks: ["what has one key goes to one instance"],
    house: ({ router }) => {
      const decide = router.decide.bind(router);
      router.decide = (resolved, demands, ...more) =>
        decide(resolved, { ...demands, partitionKey: undefined }, ...more);
    },
  },
  {
    name: "somebody stands in for what may have been done",
    from: 127,
    breaks: ["what must not be done twice is not done twice"],
    house: ({ calls }) => {
      const sender = parts(parts(calls)["sender"]);
      const lost = sender["lost"].bind(sender);
      sender["lost"] = (attempt: { call: Decisions }, ...more: unknown[]) => {
        const { call } = attempt;
        const passes = call["fallback"] !== undefined && call["state"] !== "settled" && call["current"] === attempt;
        if (!passes || !sender["standIn"](call, "UNAVAILABLE", call["standIn"] + 1)) lost(attempt, ...more);
      };
    },
  },
  {
    name: "unbounded queue",
    from: 1,
    breaks: ["a line keeps its limit"],
    house: ({ admission }) => {
      Object.defineProperty(admission, "waitingMax", { value: Number.POSITIVE_INFINITY });
    },
  },
];

function replace<T extends object, K extends keyof T>(of: T, name: K, change: (before: T[K]) => T[K]): () => void {
  const before = of[name];
  of[name] = change(before);
  return () => {
    of[name] = before;
  };
}
