// Many agents, one socket each, in one process: for what they cost the node by being there.
import { closedLoop } from "../lib/load.mjs";
import { servePart } from "../lib/part.mjs";
import { connect, enlist } from "../lib/wire.mjs";

const openAtOnce = 32;
/** How many agents of a crowd offer a capability of the same name. */
const sharedBy = 100;

/** Of its capabilities the first is shared with others by name, the rest are its own. */
function card(prefix, number, capabilities, heartbeatIntervalSec) {
  const names = [`shared_${Math.floor(number / sharedBy)}`];
  while (names.length < capabilities) names.push(`own_${number}_${names.length}`);
  return {
    agentId: `${prefix}-${number}`,
    heartbeatIntervalSec,
    capabilities: names.map((name) => ({ name, description: `Does ${name} for whoever asks`, idempotent: true })),
  };
}

const members = [];

servePart({
  async open({ url, count, prefix = "crowd", capabilities = 1, heartbeatIntervalSec = 15, hello = true }) {
    let lastNumber = 0;
    const worker = async () => {
      while (lastNumber < count) {
        const number = lastNumber++;
        const client = await connect(url, { hello });
        const { instanceId } = await enlist(client, card(prefix, number, capabilities, heartbeatIntervalSec), {
          heartbeatMs: 0,
        });
        members.push({ client, instanceId });
      }
    };
    await Promise.all(Array.from({ length: openAtOnce }, worker));
    // The beats are spread evenly over the interval, as those of agents that started at different times are.
    const startedAt = performance.now();
    let sent = 0;
    setInterval(() => {
      const due = ((performance.now() - startedAt) / 1000) * (count / heartbeatIntervalSec);
      for (; sent < due; sent++) {
        const { client, instanceId } = members[sent % count];
        client.request("heartbeat", { instanceId, load: { running: 0, queued: 0 } }, () => {});
      }
    }, 10);
  },

  /** Times one method, one at a time, from one member: `names` are of a kind of capability, or it is a `ping`. */
  probe({ kind, seconds }) {
    const { client } = members[0];
    let turn = 0;
    const issue = {
      ping: (done) => client.request("ping", {}, done),
      own: (done) => discover(`own_${(++turn * 7919) % members.length}_1`, 1, done),
      shared: (done) => discover(`shared_${++turn % (members.length / sharedBy)}`, 2, done),
    };
    const discover = (capability, atLeast, done) =>
      client.request("discover", { capability }, (error, result) => {
        const found = result?.candidates.length ?? 0;
        done(error ?? (found >= atLeast ? undefined : `${capability}: found ${found} candidates`));
      });
    return closedLoop({ seconds, inFlight: 1 }, issue[kind]);
  },
});
