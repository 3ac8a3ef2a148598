"""An agent that asks for its work: plain HTTP, no socket, no endpoint, and nothing but Python's standard library.

Run it beside a node: python3 examples/http-pull.py [http://127.0.0.1:8800]
"""

import json
import os
import sys
import urllib.request

NODE = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("AGENT_REACH_URL", "http://127.0.0.1:8800")


def send(method, path, body=None):
    request = urllib.request.Request(
        NODE + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={} if body is None else {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


# The card: who this is, and what it can do. Over HTTP the transport is "pull" unless the card says otherwise.
me = send("POST", "/v1/agents", {"card": {"agent_id": "word-counter", "capabilities": [{"name": "count_words"}]}})
proof = {key: me[key] for key in ("instanceId", "instanceKey", "epoch")}

# Somebody, somewhere, submits a task. It is on disk now, and waits for whoever can do it.
task = send("POST", "/v1/tasks", {"capability": "count_words", "input": {"text": "every agent gets a mailbox"}})

# The agent's loop, one turn of it: pull (waits up to 20 s for work), acknowledge, work, complete.
pulled = send("POST", f"/v1/instances/{me['instanceId']}/pull", {**proof, "max": 1, "waitMs": 20_000})
for delivery in pulled["deliveries"]:
    envelope = delivery["envelope"]
    path = f"/v1/deliveries/{envelope['messageId']}"
    answer = {**proof, "attempt": delivery["attempt"]}
    send("POST", f"{path}/ack", answer)
    data = {"words": len(envelope["input"]["text"].split())}
    completed = send("POST", f"{path}/complete", {**answer, "status": "completed", "data": data})
    assert completed == {"recorded": True}, completed

# The submitter looks at what became of it.
result = send("GET", f"/v1/tasks/{task['messageId']}?waitMs=10000")
assert (result["state"], result["data"], result["attempt"]) == ("completed", {"words": 5}, 1), result

send("DELETE", f"/v1/instances/{me['instanceId']}", proof)
print(f"ok: {result['data']['words']} words")
