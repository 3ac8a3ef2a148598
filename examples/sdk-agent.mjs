// An agent on the SDK: three lines to be reachable, one to call.
// Run it beside a node: node examples/sdk-agent.mjs [http://127.0.0.1:8800]
import assert from "node:assert/strict";
import { AgentReachClient } from "agent-reach/sdk";

const registryUrl = process.argv[2] ?? process.env.AGENT_REACH_URL ?? "http://127.0.0.1:8800";

// Be reachable.
const agent = new AgentReachClient({ registryUrl });
const greet = {
  name: "greet",
  idempotent: true,
  // By these it is found in plain words, too.
  description: "Greets somebody by name",
  examples: ["say hello to Ada", "please greet Mr Turing", "跟小王打个招呼"],
};
await agent.register({ agentId: "greeter", capabilities: [greet] });
await agent.onCapability("greet", ({ name }) => ({ text: `Hello, ${name}!` })).start();

// Call: nobody needs to know where the greeter is.
const caller = new AgentReachClient({ registryUrl });
const greeting = await caller.callSync({ capability: "greet", input: { name: "Ada" } });
assert.deepEqual(greeting.data, { text: "Hello, Ada!" });

// The same as a task: once it is accepted it is on disk, and survives restarts of everybody.
const task = caller.submit({ capability: "greet", input: { name: "Grace" } });
assert.equal((await task.accepted).ok, true);
assert.deepEqual((await task.result()).data, { text: "Hello, Grace!" });

// What fails remotely is a value, not an exception, and says whether trying again helps.
const nobody = await caller.callSync({ capability: "sing", input: {} });
assert.equal(nobody.errorCode, "NO_ROUTE");
assert.equal(nobody.retryable, false);

await agent.drain();
await caller.close();
console.log(`ok: ${greeting.data.text}`);
