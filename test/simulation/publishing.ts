import type { Chance } from "./chance.js";
import type { ClientHost } from "./clients.js";
import type { Input } from "./handlers.js";
import type { Publish, PublishSend } from "./publishes.js";
import type { Universe } from "./universe.js";
import { stepsOf, WORK_MS, within } from "./workload.js";

const TOPICS = ["news", "alarms"] as const;

/**
 * Some runs have topics, agents that subscribe to them before or while they work, and callers who publish to topics and
 * capabilities, and repeat themselves (DLV-16). From chance of its own, after all else is planned.
 */
export function planPublishes(universe: Universe, chance: Chance): void {
  if (!chance.in(0.35)) return;
  planSubscriptions(universe, chance);
  const callers = universe.clients.filter(({ host }) => host.startsWith("caller"));
  const count = chance.int(1, 5);
  for (let i = 0; i < count; i++) planPublish(universe, chance, chance.pick(callers), `publish ${i}`);
}

function planSubscriptions(universe: Universe, chance: Chance): void {
  const agentIds = new Set(universe.clients.flatMap(({ settings: { card } }) => (card ? [card.agentId] : [])));
  for (const agentId of agentIds) {
    if (agentId.startsWith("caller")) continue;
    const topics = universe.topicsOf(agentId);
    for (const topic of TOPICS) {
      const [from, until] = [momentIn(chance), momentIn(chance)];
      const how = chance.weighted([
        [4, "from the start"],
        [2, "later"],
        [2, "never"],
      ] as const);
      const ends = chance.in(0.2);
      if (how === "from the start") topics.add(topic);
      if (how === "later")
        universe.world.at(from, () => {
          topics.add(topic);
          each(universe, agentId, (host) => void host.subscribe(topic));
        });
      if (ends)
        universe.world.at(until, () => {
          topics.delete(topic);
          each(universe, agentId, (host) => void host.unsubscribe(topic));
        });
    }
  }
}

/** Often one at which others have much to do as well, so that what is asked meanwhile meets. */
function momentIn(chance: Chance): number {
  return chance.in(0.5) ? chance.pick([1_000, 3_000, 5_000]) + chance.between(0, 10) : chance.between(500, WORK_MS);
}

/** On all hosts of an agent that run at the moment. */
function each({ clients }: Universe, agentId: string, run: (host: ClientHost) => void): void {
  for (const host of clients) {
    if (host.settings.card?.agentId !== agentId || host.retired) continue;
    const { process } = host;
    process?.enter(() => {
      if (host.process === process) run(host);
    });
  }
}

function planPublish(universe: Universe, chance: Chance, caller: ClientHost, groupId: string): void {
  const topic = chance.in(0.7) ? chance.pick(TOPICS) : undefined;
  const publish: Publish = {
    groupId,
    topic,
    capability: topic ?? chance.pick(["read", "write", "leaf"]),
    caller: caller.host,
    steps: stepsOf(chance, "task"),
    sends: [],
    tasks: [],
  };
  universe.ledger.publishes.add(publish);
  const asked = {
    completionTimeoutMs: chance.pick([1_500, 4_000]),
    deadlineMs: chance.pick([5_000, 15_000]),
    // What lies for a person would keep the group open.
    onStalled: chance.pick(["redeliver", "redeliver", "fail"] as const),
  };
  const send = (other = false) => sendOnce(universe, caller, publish, asked, other);
  const at = momentIn(chance);
  within(universe, caller, at, () => send());
  const repeats = chance.in(0.6) ? chance.int(1, 3) : 0;
  for (let i = 0; i < repeats; i++) {
    const afterMs = chance.in(0.5) ? chance.between(0, 10) : chance.between(0, 5_000);
    within(universe, caller, at + afterMs, () => send());
  }
  if (chance.in(0.1)) within(universe, caller, at + chance.between(0, 4_000), () => send(true));
  // Who was restarted and does not know what came of it does it again.
  const { onRestart } = caller;
  caller.onRestart = () => {
    onRestart();
    if (publish.sends.length > 0 && publish.sends.every(({ end }) => end === undefined)) send();
  };
}

function sendOnce(
  { ledger }: Universe,
  { process, client }: ClientHost,
  publish: Publish,
  asked: object,
  other: boolean,
): void {
  if (process === undefined || !process.alive || client === undefined) return;
  const { groupId, topic, capability, sends } = publish;
  const send: PublishSend = { at: ledger.now, process, other, answer: undefined, end: undefined };
  sends.push(send);
  ledger.tell(process.name, `publishes ${groupId} to ${capability}${other ? " with other content" : ""}`);
  const input: Input = { publish: groupId, ...(other && { other }) };
  const handle = client.publish({ ...(topic === undefined ? { capability } : { topic }), input, groupId, ...asked });
  void handle.accepted.then(({ data, errorCode: code, outcome }) => {
    send.answer = { at: ledger.now, deliveries: data?.deliveries, ...(code && { code }), outcome };
    ledger.tell(
      process.name,
      `${groupId} ${code === undefined ? `goes to ${data?.deliveries}` : `is refused: ${code}`}`,
    );
    if (code !== undefined) return;
    handle.done().then(
      ({ total }) => {
        send.end = { at: ledger.now, total };
        ledger.tell(process.name, `hears that all ${total} of ${groupId} have ended`);
      },
      (error: Error) => ledger.tell(process.name, `does not hear the end of ${groupId}: ${error.message}`),
    );
  });
}
