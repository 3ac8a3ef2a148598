import { limits } from "@agent-reach/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { card, FakeRooms } from "../../../../test/kit/fake-rooms.js";

let rooms: FakeRooms;
beforeEach(async () => {
  rooms = await FakeRooms.open();
});
const subscribe = (topic: string, agentId = "a") => rooms.registry.subscriptions.subscribe("default", agentId, topic);
const unsubscribe = (topic: string) => rooms.registry.subscriptions.unsubscribe("default", "a", topic);
const subscribers = (topic: string) => rooms.catalog.subscribers("default", topic);
const topics = async () => (await rooms.engine.registry.get("agent", "default/a"))?.topics;

describe("DLV-16: a subscription", () => {
  test("is on disk when it is confirmed, once however often it is asked for, and ends when it is ended", async () => {
    await rooms.join(card("a"));
    await Promise.all([subscribe("news"), subscribe("weather"), subscribe("news")]);
    expect(await topics()).toEqual(["news", "weather"]);
    const { revision } = rooms.registry.view;
    await subscribe("news");
    expect(rooms.registry.view.revision).toBe(revision);
    expect(subscribers("news")).toEqual(["a"]);
    await unsubscribe("news");
    await unsubscribe("news");
    expect([await topics(), subscribers("news")]).toEqual([["weather"], []]);
    await unsubscribe("weather");
    expect(await topics()).toBeUndefined();
    expect(rooms.registry.view.subscribers.size).toBe(0);
  });

  test("is the agent's: it outlives its runs, its cards, its goodbye and the node", async () => {
    const agent = await rooms.join(card("a"));
    await subscribe("news");
    await rooms.join(card("a", ["other"]));
    await rooms.registry.deregister(agent.instance, "bye");
    expect(await topics()).toEqual(["news"]);
    rooms = await rooms.restart();
    expect(subscribers("news")).toEqual(["a"]);
    await rooms.join(card("a", ["another"]));
    expect(subscribers("news")).toEqual(["a"]);
    await rooms.join(card("b"));
    await subscribe("news", "b");
    expect(subscribers("news")).toEqual(["a", "b"]);
  });

  test("is forgotten with its agent, and not earlier", async () => {
    const agent = await rooms.join(card("a"));
    await subscribe("news");
    await rooms.registry.deregister(agent.instance, "bye");
    await rooms.leap(86_000_000);
    expect(subscribers("news")).toEqual(["a"]);
    await rooms.leap(500_000);
    await rooms.pass(61_000);
    expect([subscribers("news"), rooms.registry.view.subscribers.size]).toEqual([[], 0]);
  });

  test("is shown with its agent, and whoever watches hears of it", async () => {
    await rooms.join(card("a"));
    const heard: unknown[] = [];
    rooms.registry.onChange(({ agent, removed }) => heard.push([agent?.record.topics, removed]));
    await subscribe("news");
    expect(heard).toEqual([[["news"], false]]);
  });

  test("needs an agent that is known", async () => {
    await expect(subscribe("news", "nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("is one of so many at the most", async () => {
    await rooms.join(card("a"));
    for (let n = 0; n < limits.topicsMax; n++) await subscribe(`topic-${n}`);
    await expect(subscribe("one-more")).rejects.toMatchObject({ code: "INVALID_REQUEST", path: "topic" });
    await unsubscribe("topic-7");
    await subscribe("one-more");
    expect(await topics()).toHaveLength(limits.topicsMax);
  });
});
