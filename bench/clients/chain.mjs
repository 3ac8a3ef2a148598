// A chain of three agents, and callers who keep coming whether or not they are answered: `front` asks `middle`, which asks
// `leaf`. The agent in the middle also offers `beside`, which needs nobody, and a fourth agent offers `apart`.
import { newId } from "../lib/ids.mjs";
import { servePart } from "../lib/part.mjs";
import { connect, enlist } from "../lib/wire.mjs";

const sockets = 20;
/** Several times what a caller may have in flight, so that it is the limits of the node which show, and not those of the cards. */
const maxConcurrentTasks = 1_000;

/** An agent; `next` is what it asks for in turn, by capability. */
const agent = (agentId, next) => ({
  async open({ url }) {
    const client = await connect(url, {
      onRequest: {
        deliver: ({ envelope }, answer) => {
          const { messageId: parentId, traceId, timeoutMs, input } = envelope;
          const capability = next[envelope.capability];
          if (capability === undefined) return answer({ status: "completed", data: input });
          client.request(
            "call",
            { messageId: newId(), capability, input, parentId, traceId, timeoutMs },
            (error, result) => {
              if (error === undefined) answer({ status: "completed", data: result.data });
              else answer({ status: "failed", error: { code: error.data.code, message: error.message } });
            },
          );
        },
      },
    });
    const capabilities = Object.keys(next).map((name) => ({ name }));
    await enlist(client, { agentId, maxConcurrentTasks, capabilities });
  },
});

const clients = [];

const caller = {
  async open({ url }) {
    for (let n = 0; n < sockets; n++) clients.push(await connect(url));
  },

  /** Sends `rates[capability]` calls a second; answers for each capability when they came, how long each took, and its error. */
  run({ seconds, rates }) {
    const startedAt = performance.now();
    const records = Object.fromEntries(Object.keys(rates).map((capability) => [capability, []]));
    let open = 0;
    let turn = 0;
    const issue = (capability) => {
      const sentAt = performance.now();
      open++;
      clients[turn++ % sockets].request("call", { messageId: newId(), capability, input: { turn } }, (error) => {
        open--;
        records[capability].push([
          performance.timeOrigin + sentAt,
          performance.now() - sentAt,
          error === undefined ? null : (error.data.details?.code ?? error.data.code),
        ]);
      });
    };
    const sent = Object.fromEntries(Object.keys(rates).map((capability) => [capability, 0]));
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        const elapsedSec = Math.min((performance.now() - startedAt) / 1000, seconds);
        for (const [capability, perSec] of Object.entries(rates))
          for (; sent[capability] < elapsedSec * perSec; sent[capability]++) issue(capability);
        if (elapsedSec < seconds || open > 0) return;
        clearInterval(timer);
        resolve(records);
      }, 2);
    });
  },
};

const roles = {
  front: agent("front-agent", { front: "middle" }),
  middle: agent("middle-agent", { middle: "leaf", beside: undefined }),
  leaf: agent("leaf-agent", { leaf: undefined }),
  apart: agent("apart-agent", { apart: undefined }),
  caller,
};

servePart(roles[process.argv[2]]);
