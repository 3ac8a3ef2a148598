import { expect, test } from "vitest";
import { gate } from "../../../../test/kit/fake-peer.js";
import { Turns } from "./turns.js";

test("work of one key goes one after another, also after some that failed, and nothing is kept when it is done", async () => {
  const turns = new Turns();
  const [first, second] = [gate(), gate<string>()];
  const begun: string[] = [];
  const begin = (name: string, until: Promise<unknown>) =>
    turns.run(name.charAt(0), () => {
      begun.push(name);
      return until;
    });
  const failing = begin("a1", first.opened);
  const waiting = begin("a2", second.opened);
  await begin("b1", Promise.resolve());
  expect(begun).toEqual(["a1", "b1"]);
  first.fail(new Error("no"));
  await expect(failing).rejects.toThrow("no");
  second.open("done");
  expect(await waiting).toBe("done");
  expect(begun).toEqual(["a1", "b1", "a2"]);
  expect(turns.size).toBe(0);
});
