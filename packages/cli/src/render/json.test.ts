import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layOutJson, memberText } from "./json.js";

describe("JSON for people", () => {
  it("keeps every digit of numbers, which JSON.parse would round", () => {
    expect(layOutJson('{"id":9007199254740993,"x":[1.0,-0,1E400]}')).toBe(
      '{\n  "id": 9007199254740993,\n  "x": [\n    1.0,\n    -0,\n    1E400\n  ]\n}',
    );
    expect(memberText('{"a":1,"data":{"id":12345678901234567890, "f":1.10},"b":2}', "data")).toBe(
      '{"id":12345678901234567890,"f":1.10}',
    );
  });

  it("is laid out as JSON.stringify does, for any value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(layOutJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
      }),
    );
  });

  it("finds the member that JSON.parse would find, whatever the keys look like", () => {
    const key = fc.oneof(fc.constantFrom("data", "a", "__proto__", 'q"', "back\\"), fc.string());
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), key, (object, wanted) => {
        const text = JSON.stringify(object);
        const found = memberText(text, wanted);
        const expected = Object.hasOwn(object, wanted) ? JSON.stringify(object[wanted]) : undefined;
        expect(found).toBe(expected);
      }),
    );
  });

  it("takes the last of members with the same name, and none of what is no object", () => {
    expect(memberText('{"data":1,"data":2}', "data")).toBe("2");
    expect(memberText('["data",1]', "data")).toBeUndefined();
  });
});
