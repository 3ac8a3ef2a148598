import fc from "fast-check";
import { expect, test } from "vitest";
import { hexOf, uuidOf, wordsOf, writeHex, writeUuid } from "./id-words.js";

test("ids come back from their words as they went in, in lower case, whatever stands beside them", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.boolean(), fc.nat(4), (id, upper, at) => {
      const words = new Int32Array(12).fill(-1);
      writeUuid(words, at, upper ? id.toUpperCase() : id);
      const digits = id.replaceAll("-", "");
      writeHex(words, at + 4, upper ? digits.toUpperCase() : digits);
      expect([uuidOf(words, at), hexOf(words, at + 4)]).toEqual([id, digits]);
      expect(words.slice(at, at + 4)).toEqual(wordsOf(digits));
      expect([...words.slice(0, at), ...words.slice(at + 8)].every((w) => w === -1)).toBe(true);
    }),
  );
});
