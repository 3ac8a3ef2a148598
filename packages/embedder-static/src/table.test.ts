import { expect, test } from "vitest";
import { readTable } from "./table.js";

/** A table of two words in two dimensions, as tools/embedder/table.py writes it. */
function newFile(change: Record<string, unknown> = {}, version = 1): Uint8Array {
  const text = new TextEncoder().encode("order\n订单");
  const room = 256;
  const scales = 16 + room;
  const header = {
    id: "test",
    words: 2,
    dims: 2,
    languages: ["en", "zh"],
    scales,
    rows: scales + 8,
    text: scales + 12,
  };
  const bytes = header.text + text.length;
  const file = new Uint8Array(bytes);
  const view = new DataView(file.buffer);
  file.set(new TextEncoder().encode("REACHEMB"));
  view.setUint32(8, version, true);
  view.setUint32(12, room, true);
  file.set(new TextEncoder().encode(JSON.stringify({ ...header, bytes, ...change }).padEnd(room)), 16);
  view.setFloat32(scales, 0.5, true);
  view.setFloat32(scales + 4, 0.25, true);
  file.set(new Int8Array([127, -1, 2, -128]), header.rows);
  file.set(text, header.text);
  return file;
}

test("reads words, scales and rows, also from within a larger buffer", () => {
  const file = newFile();
  const larger = new Uint8Array(file.length + 3);
  larger.set(file, 3);
  for (const bytes of [file, larger.subarray(3)]) {
    const table = readTable(bytes, "test.bin");
    expect([...table.numbers]).toEqual([
      ["order", 0],
      ["订单", 1],
    ]);
    expect([...table.scales]).toEqual([0.5, 0.25]);
    expect([...table.rows]).toEqual([127, -1, 2, -128]);
    expect(table.languages).toEqual(["en", "zh"]);
  }
});

test("refuses a file that is something else, of a later version, cut short, or at odds with itself", () => {
  expect(() => readTable(new TextEncoder().encode("{}"), "test.bin")).toThrow(
    "test.bin is not a table of word vectors",
  );
  expect(() => readTable(newFile({}, 2), "test.bin")).toThrow("version 2, and this package reads version 1");
  expect(() => readTable(newFile().subarray(0, -1), "test.bin")).toThrow(
    `where ${newFile().length} were written; copy it again`,
  );
  expect(() => readTable(newFile({ words: 3 }), "test.bin")).toThrow("2 words where 3 were written; build it again");
});
