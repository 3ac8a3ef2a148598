import type { House } from "../../packages/server/src/house.js";

interface Sized {
  readonly size: number;
}

/** What the node still holds, by name, though everything has ended: empty, if nothing leaks. */
export function leaksOf(house: House, hasEnded: (messageId: string) => boolean): string[] {
  const { registry, admission, calls, dispatcher, tasks, rooms, sessions } = house;
  const counts: Record<string, number> = {
    "calls in flight": calls.counts.inFlight,
    "open calls": sizeAt(calls, "memory.inFlight"),
    "messages with open calls for their sake": sizeAt(calls, "endings.children.byParent"),
    "waiting lines": sizeAt(admission, "byCapability"),
    "tasks in hands": sizeAt(dispatcher, "runs.byMessage") + sizeAt(dispatcher, "runs.byInstance"),
    "tasks on their way back": at<number>(dispatcher, "commits.returning"),
    "lanes to look at": sizeAt(dispatcher, "lanes.due") + sizeAt(dispatcher, "lanes.blocked"),
    "what lanes wait for": sizeAt(dispatcher, "lanes.forCapability") + sizeAt(dispatcher, "lanes.forAgent"),
    "alarms of lanes": sizeAt(dispatcher, "lanes.alarms"),
    "groups with open tasks": sizeAt(dispatcher, "commits.groups"),
    // One that lies for a person may be waited for as long as anybody likes.
    "waits for what has ended": [...at<Map<string, unknown>>(tasks, "waiters.byTask").keys()].filter(hasEnded).length,
    "notices nobody acknowledged": sizeAt(rooms.notices, "underway"),
    "notices being read": sizeAt(rooms.notices, "reading"),
    "tasks that wait for missing numbers": sizeAt(dispatcher, "gaps"),
    "registrations in turn": sizeAt(registry, "turns"),
    "publishes in turn": sizeAt(rooms.publisher, "turns"),
  };
  for (const [topic, agents] of registry.view.subscribers)
    for (const { record } of agents)
      if (registry.view.agents.get(record.key)?.record.topics?.includes(topic) !== true)
        counts[`${record.agentId}, which does not subscribe to ${topic}`] = 1;
  for (const [principal, messages] of at<Map<string, { keys(): Iterable<string> }>>(rooms.notices, "pending"))
    for (const messageId of messages.keys()) counts[`end of ${messageId} for ${principal}`] = 1;
  for (const live of registry.view.instances.values()) {
    counts[`slots of ${live.record.agentId}`] = live.running;
    counts[`attempts held by ${live.record.agentId}`] = live.held.size;
    const { topics = [] } = registry.view.agent(live.record.tenant, live.record.agentId)?.record ?? {};
    for (const topic of at<Map<string, unknown>>(live, "byTopic").keys())
      if (!topics.includes(topic)) counts[`offers of ${live.record.agentId} for ${topic}`] = 1;
  }
  for (const session of at<Set<{ unanswered: number }>>(sessions, "open"))
    counts["requests nobody answered"] = (counts["requests nobody answered"] ?? 0) + session.unanswered;
  return Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${name}: ${count}`);
}

function sizeAt(from: object, path: string): number {
  return at<Sized>(from, path).size;
}

/** A private part: what must be empty is nobody's business but the auditor's. */
function at<T>(from: object, path: string): T {
  let found: unknown = from;
  for (const name of path.split(".")) {
    found = (found as Record<string, unknown> | undefined)?.[name];
    if (found === undefined) throw new Error(`there is no ${path} any more; the audit of leaks must follow`);
  }
  return found as T;
}
