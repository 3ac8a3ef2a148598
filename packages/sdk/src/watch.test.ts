import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer } from "../../../test/kit/fake-peer.js";
import type { WatchEvent } from "./watch.js";

const event = (watchId: string, revision: number) => ({
  watchId,
  revision,
  type: "instance.online",
  agentId: "a",
  at: "",
});

describe("watch", () => {
  it("tells events in order, also those in the same turn as its confirmation (REG-6)", async () => {
    const peer = new FakePeer();
    peer.answers["watch"] = (_, session) => {
      queueMicrotask(() => session.notify("event", event("w1", 8)));
      return { watchId: "w1", revision: 7 };
    };
    const seen: number[] = [];
    const watch = await peer.client().watch({ capability: "x" }, ({ revision }) => seen.push(revision));
    await peer.settle();
    peer.session.notify("event", event("w1", 9));
    peer.session.notify("event", event("other", 10));
    await peer.settle();
    expect(seen).toEqual([8, 9]);
    expect(watch.revision).toBe(9);
    expect(peer.session.of("watch")[0]!["params"]).toEqual({ capability: "x" });
  });

  it("C07: subscribes again after a reconnect from its last revision and tells nothing twice", async () => {
    const peer = new FakePeer();
    let watches = 0;
    peer.answers["watch"] = () => ({ watchId: `w${++watches}`, revision: 20 });
    const seen: number[] = [];
    await peer.client().watch({}, ({ revision }) => seen.push(revision));
    peer.session.notify("event", event("w1", 21));
    await peer.settle();
    const session = await peer.bounce();
    expect(session.of("watch")[0]!["params"]).toEqual({ revision: 21 });
    expect(session.of("unwatch")[0]!["params"]).toEqual({ watchId: "w1" });
    session.notify("event", event("w2", 21));
    session.notify("event", event("w2", 22));
    await peer.settle();
    expect(seen).toEqual([21, 22]);
  });

  it("lists anew when the node no longer has the changes, and then goes on with what happened since", async () => {
    const peer = new FakePeer();
    peer.answers["watch"] = ({ revision }, session) => {
      if (revision !== undefined) throw new ReachError("REVISION_GONE", "too old");
      queueMicrotask(() => session.notify("event", event("w", 101)));
      return { watchId: "w", revision: 100 };
    };
    peer.answers["agents.list"] = () => ({ agents: [{ agentId: "a" }] });
    const seen: WatchEvent[] = [];
    await peer.client().watch({ revision: 3 }, (one) => seen.push(one));
    await peer.settle();
    expect(seen.map(({ type }) => type)).toEqual(["relisted", "instance.online"]);
    expect(seen[0]).toMatchObject({ agents: [{ agentId: "a" }] });
  });

  it("ends with close, and rejects what the node refuses", async () => {
    const peer = new FakePeer();
    peer.answers["watch"] = () => ({ watchId: "w1", revision: 1 });
    const client = peer.client();
    const seen: number[] = [];
    const watch = await client.watch({}, ({ revision }) => seen.push(revision));
    watch.close();
    peer.session.notify("event", event("w1", 2));
    await peer.settle();
    expect(peer.session.of("unwatch")).toHaveLength(1);
    expect(seen).toEqual([]);
    peer.answers["watch"] = () => {
      throw new ReachError("FORBIDDEN", "not for you");
    };
    await expect(client.watch({}, () => {})).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("survives a listener that throws", async () => {
    const peer = new FakePeer();
    peer.answers["watch"] = () => ({ watchId: "w1", revision: 1 });
    const seen: number[] = [];
    await peer.client().watch({}, ({ revision }) => {
      seen.push(revision);
      throw new Error("mine");
    });
    peer.session.notify("event", event("w1", 2));
    peer.session.notify("event", event("w1", 3));
    await peer.settle();
    expect(seen).toEqual([2, 3]);
    expect(peer.logged.filter(({ level }) => level === "error")).toHaveLength(2);
  });
});
