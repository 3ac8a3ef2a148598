import { expect, it } from "vitest";
import { correction, inflections } from "./operation-forms.js";
import { BIT, meaningOf, tokensOf, unitsOf } from "./operation-lexicon.js";
import { MARK_WORDS } from "./operation-marks.js";
import { OPERATION_WORDS } from "./operation-words.js";

const forms = (verb: string): string =>
  inflections(verb)
    .map(({ word }) => word)
    .join(" ");

it("derives the forms of verbs", () => {
  expect(forms("submit")).toBe("submit submits submitting submitted");
  expect(forms("cancel")).toBe("cancel cancels cancelling canceling canceled cancelled");
  expect(forms("apply")).toBe("apply applies applying applied");
  expect(forms("withdraw")).toBe("withdraw withdraws withdrawing withdrew withdrawn");
  expect(forms("set")).toBe("set sets setting");
});

it("mends one slip in a long verb", () => {
  for (const typed of ["cancle", "cancell", "cncel", "canxel"]) expect(correction(typed), typed).toBe("cancel");
  for (const word of ["expert", "remote", "lock", "unable", "weather"]) expect(correction(word), word).toBeUndefined();
});

it("takes the longest phrase", () => {
  const cut = (text: string): string[] => {
    const units = unitsOf(text);
    return tokensOf(units).map(({ from, to }) => units.slice(from, to).join(""));
  };
  expect(cut("取消订单")).toEqual(["取消", "订单"]);
  expect(cut("取消订阅")).toEqual(["取消订阅"]);
  expect(cut("call my old meeting off now")).toEqual(["callmyoldmeetingoff", "now"]);
});

it("does not split a phrase over a clause, nor over too many words", () => {
  for (const text of ["call him, the sale is off", "call the very long meeting of Monday off"]) {
    expect(tokensOf(unitsOf(text))[0]!.meaning?.senses ?? [], text).toEqual([]);
  }
});

it("takes no point, comma or colon within a number or a name for the end of a clause", () => {
  for (const text of ["version 1.2 at 8:30 for 1,000", "node.js"]) {
    expect(
      tokensOf(unitsOf(text)).every((token) => token.break === ""),
      text,
    ).toBe(true);
  }
  expect(tokensOf(unitsOf("stop. go")).some((token) => token.break === "sentence")).toBe(true);
});

it("has a bit of its own for every mark", () => {
  const bits = Object.values(BIT);
  expect(new Set(bits).size).toBe(bits.length);
  expect(bits.every((bit) => bit > 0)).toBe(true);
});

it("reads no more than the first thousand words or characters", () => {
  expect(unitsOf("取消".repeat(2000))).toHaveLength(1000);
});

it("has no word that is an operation and a neutral word at once", () => {
  const neutral = [...MARK_WORDS.neutral.zh.split(/\s+/), ...MARK_WORDS.neutral.en.split(/,\s*/)].map((word) =>
    word.trim(),
  );
  const listed = new Set<string>();
  for (const { zh, en } of Object.values(OPERATION_WORDS)) {
    for (const entry of [...zh.split(/\s+/), ...en.split(/,\s*/)]) listed.add(entry.replace(/[?=~]+$/, "").trim());
  }
  expect(neutral.filter((word) => word !== "" && listed.has(word))).toEqual([]);
  expect(meaningOf(["meetings"])?.marks).toBe(BIT.neutral);
});
