import { ReachError } from "@agent-reach/protocol";
import { describe, expect, it } from "vitest";
import { FakePeer, gate } from "../../../test/kit/fake-peer.js";

const topicsOf = (frames: { [key: string]: unknown }[]) =>
  frames.map(({ params }) => (params as { topic: string }).topic);

describe("DLV-16: a subscription of an agent", () => {
  it("goes over the wire after its registration, and `start` waits for the node's word", async () => {
    const peer = new FakePeer();
    const stored = gate<object>();
    peer.answers["subscribe"] = () => stored.opened;
    const client = peer.client();
    await client.subscribe("orders", () => null);
    await client.register({ agentId: "a" });
    await client.subscribe("news", () => null);
    let online = false;
    const starting = client.start().then(() => {
      online = true;
    });
    await peer.settle();
    const sent = peer.session.frames.map(({ method }) => method);
    expect(sent.slice(0, 4)).toEqual(["hello", "register", "subscribe", "subscribe"]);
    expect(online).toBe(false);
    stored.open({});
    await starting;
    await client.subscribe("weather", () => null);
    expect(topicsOf(peer.session.of("subscribe"))).toEqual(["orders", "news", "weather"]);
  });

  it("is said again after a reconnect, and no longer when it has ended", async () => {
    const peer = new FakePeer();
    const { client } = await peer.agent({});
    await client.subscribe("news", () => null);
    await client.subscribe("orders", () => null);
    await client.unsubscribe("news");
    expect(topicsOf(peer.session.of("unsubscribe"))).toEqual(["news"]);
    const session = await peer.bounce();
    expect(topicsOf(session.of("subscribe"))).toEqual(["orders"]);
  });

  it("brings messages to its handler, and not to that of a capability with the same name", async () => {
    const peer = new FakePeer();
    const { client, session } = await peer.agent({ news: () => "capability" });
    await client.subscribe<{ n: number }>("news", ({ n }, { kind, envelope }) => [n, kind, envelope.topic]);
    const ask = async (more: object) =>
      (
        await session.request("deliver", {
          envelope: peer.envelope({ capability: "news", kind: "task", ...more }),
          attempt: 1,
        })
      )["result"];
    expect(await ask({ topic: "news", input: { n: 7 } })).toMatchObject({ data: [7, "task", "news"] });
    expect(await ask({})).toMatchObject({ data: "capability" });
    const refused = await session.request("deliver", {
      envelope: peer.envelope({ capability: "other", topic: "other" }),
      attempt: 1,
    });
    expect(refused["error"].data).toMatchObject({ code: "NO_ROUTE", outcome: "not_executed" });
  });

  it("that has ended still handles what was on its way", async () => {
    const peer = new FakePeer();
    const first = gate();
    const { client, session } = await peer.agent({}, { maxConcurrentTasks: 1 });
    await client.subscribe("news", (input) => (input === 1 ? first.opened : "second"));
    const deliver = (input: number) =>
      session.request("deliver", { envelope: peer.envelope({ capability: "news", topic: "news", input }), attempt: 1 });
    const [one, two] = [deliver(1), deliver(2)];
    await peer.settle();
    await client.unsubscribe("news");
    first.open("first");
    expect([(await one)["result"].data, (await two)["result"].data]).toEqual(["first", "second"]);
  });

  it("which the node refuses fails `start`, or `subscribe` itself", async () => {
    const peer = new FakePeer();
    peer.answers["subscribe"] = () => {
      throw new ReachError("INVALID_REQUEST", "too many topics");
    };
    const client = peer.client();
    const errors: string[] = [];
    client.on("error", ({ code }) => errors.push(code));
    await client.register({ agentId: "a" });
    await client.subscribe("news", () => null);
    await expect(client.start()).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    expect(errors).toEqual(["INVALID_REQUEST"]);
    await expect(client.subscribe("more", () => null)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  it("cannot be ended by somebody who is no agent", async () => {
    const client = new FakePeer().client();
    await expect(client.unsubscribe("news")).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });
});
