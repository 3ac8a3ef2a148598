import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer, silence } from "../../../test/kit/fake-peer.js";
import type { SavedIdentity } from "./platform.js";

describe("registration", () => {
  it("registers the same instance again in the next session, before anything else (LIVE-9)", async () => {
    const peer = new FakePeer();
    peer.answers["call"] = () => silence;
    const { client, registered } = await peer.agent({ query_order: () => 1 });
    void client.callSync({ capability: "other", timeoutMs: 60_000 });
    await peer.settle();
    const session = await peer.bounce();
    expect(session.frames.map((frame) => frame["method"]).slice(0, 3)).toEqual(["hello", "register", "call"]);
    expect(session.of("register")[0]!["params"]).toMatchObject({
      instanceId: registered.instanceId,
      instanceKey: "k".repeat(32),
    });
    expect(client.registered?.epoch).toBe(2);
  });

  it("registers afresh when the node says that the instance is not its own to take", async () => {
    const peer = new FakePeer();
    const { registered } = await peer.agent({});
    let refusals = 1;
    peer.answers["register"] = (params) => {
      if (refusals-- > 0) throw new ReachError("FORBIDDEN", "not yours");
      return peer.registered(params);
    };
    const session = await peer.bounce();
    const [first, second] = session.of("register").map(({ params }) => params.instanceId);
    expect(first).toBe(registered.instanceId);
    expect(second).not.toBe(first);
  });

  it("waits for a node that is not ready, and rejects start when the card is refused", async () => {
    const peer = new FakePeer();
    let refusals = 3;
    peer.answers["register"] = (params) => {
      if (refusals-- > 0) throw new ReachError("NOT_READY", "loading");
      return peer.registered(params);
    };
    const client = peer.client();
    await client.register({ agentId: "a" });
    const started = client.start();
    await peer.advance(5_000);
    expect(await started).toMatchObject({ agentId: "a" });
    peer.answers["register"] = () => {
      throw new ReachError("INVALID_CARD", "bad", { path: "agentId" });
    };
    const other = peer.client();
    await other.register({ agentId: "b" });
    await expect(other.start()).rejects.toMatchObject({ code: "INVALID_CARD", path: "agentId" });
  });

  it("logs a warning when it comes, and not again at every reconnect (REG-12)", async () => {
    const peer = new FakePeer();
    let warnings = ["idempotent: not said for a"];
    peer.answers["register"] = (params) => ({ ...peer.registered(params), warnings });
    await peer.agent({ a: () => 1 });
    const warned = () => peer.logged.filter(({ level }) => level === "warn").map(({ message }) => message);
    expect(warned()).toEqual(warnings);
    await peer.bounce();
    expect(warned()).toEqual(warnings);
    warnings = [...warnings, "name: seems to mean the same"];
    await peer.bounce();
    expect(warned()).toEqual(warnings);
  });

  it("sends a changed card at once, as an update of the same instance", async () => {
    const peer = new FakePeer();
    const { client, registered } = await peer.agent({});
    const updated = await client.register({ agentId: "order-agent-01", description: "new" });
    expect(updated?.instanceId).toBe(registered.instanceId);
    expect(peer.session.of("register")[1]!["params"].card.description).toBe("new");
  });

  it("keeps its identity in a state file over restarts", async () => {
    const peer = new FakePeer();
    let saved: SavedIdentity | undefined;
    const store = {
      load: () => saved,
      save: (identity: SavedIdentity) => {
        saved = identity;
      },
    };
    const first = peer.client({}, store);
    await first.register({ agentId: "a" });
    const { instanceId } = await first.start();
    await first.close();
    const second = peer.client({}, store);
    await second.register({ agentId: "a" });
    expect((await second.start()).instanceId).toBe(instanceId);
    expect(peer.session.of("register")[0]!["params"].instanceKey).toBe("k".repeat(32));
    const other = peer.client({}, store);
    await other.register({ agentId: "b" });
    expect((await other.start()).instanceId).not.toBe(instanceId);
  });
});
