// Caller and agent as users write them: with the SDK on both sides.
import { AgentReachClient } from "@agent-reach/sdk";
import { orderCard, orderInput, storedInput } from "../lib/card.mjs";
import { closedLoop } from "../lib/load.mjs";
import { servePart } from "../lib/part.mjs";

const agent = {
  async open({ url, agentId }) {
    const client = new AgentReachClient({ registryUrl: url });
    client.register(orderCard(agentId));
    client.onCapability("query_order", (input) => ({ status: "shipped", order_id: input.order_id }));
    await client.start();
  },
};

let client;

const failure = ({ errorCode, errorMessage }) => (errorCode ? `${errorCode}: ${errorMessage}` : undefined);

const issue = {
  call: (done) =>
    client
      .callSync({ capability: "query_order", input: orderInput, timeoutMs: 30_000 })
      .then((outcome) => done(failure(outcome)), done),

  submit: (done) =>
    client
      .submit({ capability: "query_order", input: storedInput })
      .accepted.then((outcome) => done(failure(outcome)), done),

  /** Counts when the SDK says that the task is completed. */
  task: (done) =>
    client.submit({ capability: "query_order", input: storedInput }).onResult((outcome) => done(failure(outcome))),
};

const caller = {
  async open({ url }) {
    client = new AgentReachClient({ registryUrl: url });
    await client.connect();
  },
  run: ({ operation, ...options }) => closedLoop(options, issue[operation]),
};

servePart({ agent, caller }[process.argv[2]]);
