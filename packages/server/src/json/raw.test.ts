import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rawAt, Spans, scan } from "./raw.js";

const scanned = (text: string) => {
  const [top, inner, again, innerAgain] = [new Spans(), new Spans(), new Spans(), new Spans()];
  scan(text, top, inner);
  scan(text, again, innerAgain, Buffer.from(text));
  expect([again, innerAgain]).toEqual([top, inner]);
  return { top, inner };
};

const space = fc.constantFrom("", " ", "\n\t", "\r\n  ");
/** JSON text with white space wherever it may stand. */
const spaced = (value: unknown, gap: string): string => JSON.stringify(value, null, 1).replaceAll("\n", `${gap}\n`);

const member = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom('"', "\\", '\\"', "\\\\", "{", "}]", '":1,"'),
);
const key = fc.oneof(
  fc.string(),
  fc.constantFrom("input", "data", "id", "__proto__", 'a"b', "a\\", "ключ", "{", "a:b"),
);
const anObject = fc.dictionary(key, member, { maxKeys: 8 });

describe("finding raw members", () => {
  test("the text of each member, parsed, is the member that JSON.parse sees", () => {
    fc.assert(
      fc.property(anObject, space, (object, gap) => {
        const text = gap + spaced(object, gap) + gap;
        const { top } = scanned(text);
        for (const [name, value] of Object.entries(JSON.parse(text))) {
          const raw = top.raw(name);
          expect(raw).toBeDefined();
          expect(JSON.parse(raw!)).toEqual(value);
          expect(raw).toBe(raw!.trim());
        }
        expect(top.raw("surely not there")).toBeUndefined();
      }),
    );
  });

  test("so it is for the members of params, whatever stands around it", () => {
    fc.assert(
      fc.property(anObject, anObject, anObject, space, (params, before, after, gap) => {
        const text = spaced({ meta: before, ...{ jsonrpc: "2.0", id: 1 }, params, extra: after, list: [after] }, gap);
        const { inner, top } = scanned(text);
        const parsed = JSON.parse(text) as { params: object };
        expect(JSON.parse(top.raw("params")!)).toEqual(parsed.params);
        for (const [name, value] of Object.entries(parsed.params)) expect(JSON.parse(inner.raw(name)!)).toEqual(value);
        for (const name of Object.keys(before))
          if (!Object.hasOwn(params, name)) expect(inner.raw(name)).toBeUndefined();
      }),
    );
  });

  test("REG-8: unknown members beside params do not pass for params", () => {
    const { inner } = scanned('{"params":{"input":{"good":1}},"meta":{"input":{"evil":1},"more":2}}');
    expect(inner.raw("input")).toBe('{"good":1}');
    expect(inner.raw("more")).toBeUndefined();
  });

  test("of two members with one name the last counts, as in JSON.parse, however it is spelled", () => {
    for (const text of ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"\\u0061":1,"a":2}']) {
      expect(scanned(text).top.raw("a"), text).toBe(String((JSON.parse(text) as { a: number }).a));
    }
    const twice = '{"params":{"input":1,"gone":3},"params":{"input":2}}';
    expect(scanned(twice).inner.raw("input")).toBe("2");
    expect(scanned(twice).inner.raw("gone")).toBeUndefined();
  });

  test("numbers come out to the digit", () => {
    const { inner } = scanned('{"params":{"input": {"id":12345678901234567890, "x":1.50e+2} }}');
    expect(inner.raw("input")).toBe('{"id":12345678901234567890, "x":1.50e+2}');
  });

  test("depth is the deepest nesting, brackets in strings not counted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.boolean(), (depth, lists) => {
        const [open, close] = lists ? ["[", "]"] : ['{"a":', "}"];
        expect(scanned(`${open.repeat(depth)}"}]{["${close.repeat(depth)}`).top.depth).toBe(depth);
      }),
    );
  });

  test("spans of one message say nothing of the next", () => {
    const top = new Spans();
    const inner = new Spans();
    scan('{"a":1,"params":{"b":2}}', top, inner);
    scan("{}", top, inner);
    expect([top.raw("a"), inner.raw("b"), top.depth]).toEqual([undefined, undefined, 1]);
  });

  test("RES-7: garbage ends, throws nothing, and takes time in proportion to its length", () => {
    const piece = fc.constantFrom('"', "\\", "{", "}", "[", "]", ":", ",", "a", " ", "1", '"a":', "\ud800");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 200 }).map((all) => all.join("")),
        ),
        (text) => {
          const { top } = scanned(text);
          expect(top.depth).toBeGreaterThanOrEqual(0);
          rawAt(text, ["a", "b"]);
        },
      ),
    );
    const before = performance.now();
    for (const long of [
      '"'.repeat(1e6),
      "\\".repeat(1e6),
      `"${'\\"'.repeat(5e5)}`,
      "[".repeat(1e6),
      "}".repeat(1e6),
      `{"a":"${"\\".repeat(1e6)}`,
    ])
      scanned(long);
    // Quadratic time over a million characters would be minutes.
    expect(performance.now() - before).toBeLessThan(10_000);
  });
});

describe("rawAt", () => {
  test("follows a path to any depth", () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), member, (path, value) => {
        const text = path.reduceRight(
          (inside, name) => `{"z":[0], ${JSON.stringify(name)} : ${inside} }`,
          JSON.stringify(value),
        );
        const raw = rawAt(text, path);
        expect(raw === undefined ? raw : JSON.parse(raw)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("answers nothing where nothing is", () => {
    expect(rawAt('{"a":1}', ["a", "b"])).toBeUndefined();
    expect(rawAt('{"a":[{"b":1}]}', ["a", "b"])).toBeUndefined();
    expect(rawAt("", ["a"])).toBeUndefined();
  });
});
