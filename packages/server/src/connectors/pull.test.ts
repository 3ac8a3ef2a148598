import { beforeEach, describe, expect, test } from "vitest";
import { FakeSystem, settle } from "../../../../test/kit/fake-system.js";
import type { Outgoing, Receiver } from "../ports/delivery.js";
import { PullLink } from "./pull.js";

let system: FakeSystem;
let link: PullLink;
let wanted: number;
const never = new AbortController().signal;
beforeEach(() => {
  system = new FakeSystem();
  wanted = 0;
  link = new PullLink(system, () => wanted++);
});

class Waiting implements Receiver {
  readonly heard: string[] = [];
  sent(): void {
    this.heard.push("sent");
  }
  accepted(): void {
    this.heard.push("accepted");
  }
  completed(): void {
    this.heard.push("completed");
  }
  failed(): void {
    this.heard.push("failed");
  }
  refused(): void {
    this.heard.push("refused");
  }
  lost(): void {
    this.heard.push("lost");
  }
}
const message = (messageId: string): Outgoing => ({
  messageId,
  attempt: 1,
  envelope: `{"messageId":"${messageId}"}`,
  timeoutMs: 30_000,
  hintMs: undefined,
});
const put = (id: string): Waiting => {
  const receiver = new Waiting();
  expect(link.deliver(message(id), receiver)).toBe(true);
  return receiver;
};
const pull = (max: number, waitMs = 0, gone = never): Promise<string[]> =>
  link.pull(max, waitMs, gone).then((all) => all.map((d) => d.messageId));

describe("ROUTE-8: an agent that pulls", () => {
  test("has room for as many as it asks for while it waits, and for none before", async () => {
    expect(link.room).toBe(0);
    const pulled = pull(2, 5_000);
    expect([link.room, wanted]).toEqual([2, 1]);
    // Room is kept from the decision on, before the message comes.
    link.reserve();
    link.reserve();
    expect(link.room).toBe(0);
    link.reserve();
    expect(link.room).toBe(0);
    put("m1");
    put("m2");
    await system.advanceAsync(10);
    expect(await pulled).toEqual(["m1", "m2"]);
    expect(link.room).toBe(0);
  });

  test("gets what comes within its wait, and nothing when nothing comes", async () => {
    const pulled = pull(5, 5_000);
    await system.advanceAsync(3_000);
    const receiver = put("m1");
    expect(receiver.heard).toEqual([]);
    await system.advanceAsync(20);
    expect(await pulled).toEqual(["m1"]);
    expect(receiver.heard).toEqual(["sent"]);
    const empty = pull(5, 1_000);
    await system.advanceAsync(1_000);
    expect(await empty).toEqual([]);
    expect(system.pending).toBe(0);
  });

  test("takes each message once, in order, and no more than it asked for", async () => {
    const all = ["m1", "m2", "m3"].map(put);
    expect(await pull(2)).toEqual(["m1", "m2"]);
    expect(all.map((r) => r.heard.length)).toEqual([1, 1, 0]);
    expect(await pull(1)).toEqual(["m3"]);
  });

  test("that hung up takes nothing with it", async () => {
    const gone = new AbortController();
    const pulled = pull(5, 5_000, gone.signal);
    gone.abort();
    expect(await pulled).toEqual([]);
    const receiver = put("m1");
    expect(await pull(1)).toEqual(["m1"]);
    expect(receiver.heard).toEqual(["sent"]);
  });

  test("answers by asking for the one who waits: once", async () => {
    const receiver = put("m1");
    await pull(1);
    expect(link.take("m1", 2)).toBeUndefined();
    expect(link.take("m1", 1)).toBe(receiver);
    expect(link.take("m1", 1)).toBeUndefined();
  });

  test("a new pull ends an older one, and no message is lost between them", async () => {
    const older = pull(5, 60_000);
    await settle();
    const newer = pull(5, 60_000);
    put("m1");
    await system.advanceAsync(200);
    expect([...(await older), ...(await Promise.race([newer, settle(10).then(() => [])]))]).toEqual(["m1"]);
  });

  test("does not get what was cancelled before it asked", async () => {
    put("m1");
    put("m2");
    link.cancel("m1", 1);
    const pulled = pull(2);
    await system.advanceAsync(200);
    expect(await pulled).toEqual(["m2"]);
  });

  test("D2: when the link closes, everybody who has heard nothing hears that it is lost, once; nothing more is taken", async () => {
    const fetched = put("m1");
    const answered = put("m2");
    await pull(2);
    link.take("m2", 1)!.accepted();
    const waiting = put("m3");
    link.close();
    link.close();
    expect([fetched.heard, answered.heard, waiting.heard]).toEqual([["sent", "lost"], ["sent", "accepted"], ["lost"]]);
    expect(link.deliver(message("m4"), new Waiting())).toBe(false);
    expect(await pull(1, 1_000)).toEqual([]);
  });
});
