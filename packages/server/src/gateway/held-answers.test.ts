import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeSystem, settle } from "../../../../test/kit/fake-system.js";
import { HeldAnswers } from "./held-answers.js";

let system: FakeSystem;
let written: string[];
let pings: number;
let answers: HeldAnswers;
beforeEach(() => {
  system = new FakeSystem();
  written = [];
  pings = 0;
  answers = new HeldAnswers(
    system,
    (text) => written.push(text),
    () => void pings++,
  );
});

describe("W3: answers behind results", () => {
  test("leave at once where no result is being written", () => {
    answers.send("a");
    expect(written).toEqual(["a"]);
  });

  test("leave in their order, each as soon as all results before it are written or refused, and not before", async () => {
    const step = fc.oneof(fc.constant("answer" as const), fc.constant("result" as const), fc.nat(30));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const out: string[] = [];
        const held = new HeldAnswers(
          new FakeSystem(),
          (text) => out.push(text),
          () => {},
        );
        const results: { end: () => void; over: boolean }[] = [];
        const sent: number[] = [];
        for (const [i, what] of steps.entries()) {
          if (what === "answer") {
            held.send(String(sent.push(results.length)));
          } else if (what === "result") {
            let end!: () => void;
            held.waitFor(
              new Promise((resolve, reject) => {
                end = i % 2 === 0 ? resolve : () => reject(new Error("the disk is full"));
              }),
            );
            results.push({ end, over: false });
          } else if (results.length > 0) {
            const one = results[what % results.length]!;
            one.end();
            one.over = true;
          }
          await settle();
          const open = results.findIndex((r) => !r.over);
          const free = sent.filter((before) => open < 0 || before <= open).length;
          expect(out).toEqual(sent.slice(0, free).map((_, n) => String(n + 1)));
        }
      }),
      { numRuns: 50 },
    );
  });

  test("and while they wait, the other side is shown now and then that the node is alive", async () => {
    let end!: () => void;
    answers.waitFor(
      new Promise((resolve) => {
        end = resolve;
      }),
    );
    await system.advanceAsync(25_000);
    expect(pings).toBe(2);
    end();
    await system.advanceAsync(60_000);
    expect(pings).toBe(2);
    answers.waitFor(new Promise(() => {}));
    answers.stop();
    await system.advanceAsync(60_000);
    expect(pings).toBe(2);
  });
});
