// Caller and agent over bare `ws`: what the node can do when the clients cost next to nothing.
import { orderCard, orderInput, storedInput } from "../lib/card.mjs";
import { newId } from "../lib/ids.mjs";
import { closedLoop } from "../lib/load.mjs";
import { servePart } from "../lib/part.mjs";
import { connect, enlist } from "../lib/wire.mjs";

const agent = {
  async open({ url, agentId }) {
    const client = await connect(url, {
      onRequest: {
        deliver: ({ envelope }, answer) =>
          answer({ status: "completed", data: { status: "shipped", order_id: envelope.input.order_id } }),
      },
    });
    await enlist(client, orderCard(agentId));
  },
};

/** Registers and says goodbye at once: from then on the capability is known and nobody is there. */
const absentAgent = {
  async open({ url, agentId, capability }) {
    const client = await connect(url);
    const { instanceId } = await enlist(client, orderCard(agentId, capability), { heartbeatMs: 0 });
    await client.ask("deregister", { instanceId });
    client.close();
  },
};

let client;
let capability;
const untilUpdate = new Map();

const issue = {
  call: (done) =>
    client.request("call", { messageId: newId(), capability, input: orderInput, timeoutMs: 30_000 }, done),

  submit: (done) => client.request("submit", { messageId: newId(), capability, input: storedInput }, done),

  /** Counts when the node has told us that the task is completed. */
  task: (done) => {
    const messageId = newId();
    untilUpdate.set(messageId, done);
    client.request("submit", { messageId, capability, input: storedInput }, (error) => {
      if (!error) return;
      untilUpdate.delete(messageId);
      done(error);
    });
  },
};

const caller = {
  async open({ url, capability: wanted = "query_order" }) {
    capability = wanted;
    client = await connect(url, {
      onRequest: {
        "task.update": (task, answer) => {
          answer({});
          const done = untilUpdate.get(task.messageId);
          untilUpdate.delete(task.messageId);
          done?.(task.state === "completed" ? undefined : `task ${task.state}: ${JSON.stringify(task.error)}`);
        },
      },
    });
  },
  run: ({ operation, ...options }) => closedLoop(options, issue[operation]),
};

servePart({ agent, "absent-agent": absentAgent, caller }[process.argv[2]]);
