import fc from "fast-check";
import { expect, test } from "vitest";
import { itemsOf } from "./items.js";

test("the items of any array, each as it stands there", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2), (values, indent) => {
      const texts = itemsOf(JSON.stringify(values, undefined, indent));
      expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
});

test("to the digit, and whatever stands in strings", () => {
  const items = ['{"n":12345678901234567890}', '"],[\\"{,"', "1e400", "[]", '{"a":["]",{}]}'];
  expect(itemsOf(` [ ${items.join(" , ")} ] `)).toEqual(items);
  expect(itemsOf("[ ]")).toEqual([]);
});
