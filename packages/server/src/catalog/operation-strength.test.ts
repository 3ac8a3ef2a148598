import { describe, expect, test } from "vitest";
import { type Contest, STRENGTHS, strengthOf } from "./operation-strength.js";

/** So many texts of cards whose own operation has this factor, against a card that says the same and has the other factor. */
function contests(count: number, own: number, other: number): Contest[] {
  const mine = { plain: 0.5, factor: own };
  return Array.from({ length: count }, () => ({ own: mine, all: [mine, { plain: 0.5, factor: other }] }));
}

describe("CAT-7: how much operations count is learnt from a catalog's own texts", () => {
  test("in full where they lead to the right card", () => {
    expect(strengthOf(contests(50, 1.1, 0.7))).toBe(1);
  });

  test("least where they lead away from it", () => {
    expect(strengthOf(contests(50, 0.7, 1.1))).toBe(Math.min(...STRENGTHS));
  });

  test("less where they do a little more harm than good", () => {
    const strength = strengthOf([...contests(100, 0.85, 1.1), ...contests(260, 1.1, 0.8)]);
    expect(strength).toBe(0.7);
  });

  test("in full as long as few texts say otherwise, or none", () => {
    expect(strengthOf(contests(1, 0.85, 1.05))).toBe(1);
    expect(strengthOf([])).toBe(1);
  });

  test("a text whose own card is far behind says nothing", () => {
    const lost: Contest[] = contests(50, 0.7, 1.1).map(({ all }) => ({ own: undefined, all }));
    expect(strengthOf(lost)).toBe(1);
  });
});
