// A caller that wants things done, whoever dies meanwhile, itself included. What it wants and what it knows stands in the
// ledger: a run that follows a killed one submits under the same keys whatever is not known to have succeeded, and now and
// then a key that did.
import { appendFileSync, readFileSync } from "node:fs";
import { AgentReachClient } from "@agent-reach/sdk";

const { registryUrl, capability, ledger, lanes = 8, repeatEvery = 10 } = JSON.parse(process.argv[2]);
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const note = (word, key) => appendFileSync(ledger, `${word} ${key} ${process.pid}\n`);

process.on("disconnect", () => process.exit(0));
const wanted = new Set();
const completed = new Set();
for (const line of readFileSync(ledger, "utf8").split("\n")) {
  const [word, key] = line.split(" ");
  if (word === "wanted") wanted.add(key);
  if (word === "completed") completed.add(key);
}
const left = [...wanted].filter((key) => !completed.has(key));
let lastNumber = wanted.size;
let stopping = false;

const caller = new AgentReachClient({ registryUrl, logger: quiet, reconnect: { minMs: 20, maxMs: 200 } });

/** A refusal that says it makes sense to come again is followed; any other is a fault that the test must see. */
async function perform(key) {
  for (;;) {
    const task = caller.submit({ capability, input: { key }, idempotencyKey: key });
    const accepted = await task.accepted;
    if (accepted.ok) {
      note("accepted", key);
      const { state, data, errorMessage } = await task.result();
      if (state !== "completed" || data.done.key !== key) throw new Error(`${key} ended as ${state}: ${errorMessage}`);
      if (!completed.has(key)) note("completed", key);
      completed.add(key);
      return;
    }
    if (!accepted.retryable && accepted.outcome !== "unknown") throw new Error(`${key}: ${accepted.errorMessage}`);
  }
}

/** What is left of the run before, or nothing. */
function next() {
  const key = left.shift();
  if (key !== undefined || stopping) return key;
  const fresh = `key-${++lastNumber}`;
  note("wanted", fresh);
  return fresh;
}

async function lane() {
  for (let turn = 1; ; turn++) {
    const key = next();
    if (key === undefined) return;
    await perform(key);
    process.send({ type: "completed", key });
    if (turn % repeatEvery === 0) await perform(key);
  }
}

process.on("message", ({ type }) => {
  if (type === "stop") stopping = true;
});
const done = Promise.all(Array.from({ length: lanes }, lane));
process.send({ type: "up" });
await done;
process.send({ type: "stop", completed: completed.size });
await caller.close();
process.disconnect();
