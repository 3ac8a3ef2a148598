import { beforeAll, describe, expect, test } from "vitest";
import { CHOICES_MAX, type Choice, type Chooser } from "../chooser.js";

export interface ChooserSubject {
  open(): Promise<Chooser>;
  /** Short lists, a request for one of them, and one that none of them serves. */
  cases: { choices: readonly Choice[]; asks: string; chosen: string; asksOther: string }[];
}

/** The promises of Chooser, for one engine. */
export function chooserConformance({ open, cases }: ChooserSubject): void {
  describe("Chooser", () => {
    let chooser: Chooser;
    const { signal } = new AbortController();
    beforeAll(async () => {
      chooser = await open();
    });

    test.each(cases)(
      "CH1: chooses the one that is asked for, by its name: $asks",
      async ({ choices, asks, chosen }) => {
        expect(await chooser.choose(asks, choices, signal)).toMatchObject({ chosen, reason: "chosen" });
      },
    );

    test.each(cases)("CH1: chooses null where none of them serves: $asksOther", async ({ choices, asksOther }) => {
      expect(await chooser.choose(asksOther, choices, signal)).toMatchObject({ chosen: null, reason: "none" });
    });

    test("CH1: chooses null where there is nothing to choose from, and where nothing is asked for", async () => {
      const { choices, asks } = cases[0]!;
      expect(await chooser.choose(asks, [], signal)).toMatchObject({ chosen: null, reason: "none" });
      expect(await chooser.choose(" \n", choices, signal)).toMatchObject({ chosen: null, reason: "none" });
    });

    test("CH2: does not look at a choice beyond the first few", async () => {
      const { choices, asks, chosen } = cases[0]!;
      const others = Array.from({ length: CHOICES_MAX }, (_, i) => ({ name: `zzz${i}` }));
      const right = choices.filter(({ name }) => name === chosen);
      expect(await chooser.choose(asks, [...others.slice(1), ...right], signal)).toMatchObject({ chosen });
      expect(await chooser.choose(asks, [...others, ...right], signal)).toMatchObject({ chosen: null });
    });

    test("CH2: of a request of a million letters the beginning counts", async () => {
      const { choices, asks, chosen } = cases[0]!;
      expect(await chooser.choose(`${asks} ${" zzz".repeat(250_000)}`, choices, signal)).toMatchObject({ chosen });
    });

    test("CH5: an aborted signal rejects with its reason, and the next request is answered as ever", async () => {
      const { choices, asks, chosen } = cases[0]!;
      const reason = new Error("not wanted any more");
      await expect(chooser.choose(asks, choices, AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(await chooser.choose(asks, choices, signal)).toMatchObject({ chosen });
    });
  });
}
