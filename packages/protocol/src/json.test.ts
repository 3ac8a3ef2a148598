import fc from "fast-check";
import { expect, test } from "vitest";
import { measure, own, pathOf, put, utf8Length } from "./json.js";

test("utf8Length counts what an encoder writes, lone surrogates too", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "a\udc00b", "\ud83d\ude00")),
      (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      },
    ),
  );
});

test("measure counts the bytes of compact JSON, and the levels", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      // JSON writes -0 as 0.
      const again = JSON.parse(JSON.stringify(value));
      expect(measure(again, 64).bytes).toBe(new TextEncoder().encode(JSON.stringify(again)).length);
    }),
  );
  expect(measure(1, 9).depth).toBe(0);
  expect(measure({}, 9).depth).toBe(1);
  expect(measure({ a: [[1]] }, 9).depth).toBe(3);
});

test("measure stops one level past the limit", () => {
  expect(measure([[[[[[]]]]]], 3).depth).toBe(4);
});

test("put and own treat __proto__ as a key like any other", () => {
  const object = {};
  expect(own(object, "constructor")).toBeUndefined();
  put(object, "__proto__", { x: 1 });
  expect(own(object, "__proto__")).toEqual({ x: 1 });
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
});

test("pathOf quotes keys that are no plain words", () => {
  expect(pathOf([])).toBe("");
  expect(pathOf(["capabilities", 1, "name"])).toBe("capabilities[1].name");
  expect(pathOf(["labels", "a.b", "x-y"])).toBe('labels["a.b"].x-y');
});
