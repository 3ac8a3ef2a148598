/**
 * The table's file (tools/embedder/table.py describes it byte by byte): a JSON header, one float32 scale and `dims` int8
 * numbers a word, and the words as one block of text. Rows stay as they are in the file; nothing but the index of words is
 * built, so loading takes tens of milliseconds and little more memory than the file.
 */
export interface Table {
  readonly id: string;
  readonly dims: number;
  readonly languages: readonly string[];
  /** Word → its row. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly scales: Float32Array;
  readonly rows: Int8Array;
}

interface Header {
  id: string;
  words: number;
  dims: number;
  languages: string[];
  scales: number;
  rows: number;
  text: number;
  bytes: number;
}

const MAGIC = "REACHEMB";
const VERSION = 1;

/** Throws an Error which says what is wrong with the file. `name` is what messages call it. */
export function readTable(file: Uint8Array, name: string): Table {
  const utf8 = new TextDecoder();
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.byteLength < 16 || utf8.decode(file.subarray(0, 8)) !== MAGIC)
    throw new Error(`${name} is not a table of word vectors: it does not begin with ${MAGIC}`);
  const version = view.getUint32(8, true);
  if (version !== VERSION)
    throw new Error(`${name} is a table of version ${version}, and this package reads version ${VERSION}`);
  const header = JSON.parse(utf8.decode(file.subarray(16, 16 + view.getUint32(12, true)))) as Header;
  if (file.byteLength !== header.bytes)
    throw new Error(`${name} has ${file.byteLength} bytes where ${header.bytes} were written; copy it again`);

  const numbers = new Map<string, number>();
  for (const word of utf8.decode(file.subarray(header.text, header.bytes)).split("\n")) numbers.set(word, numbers.size);
  if (numbers.size !== header.words)
    throw new Error(`${name} has ${numbers.size} words where ${header.words} were written; build it again`);
  const scales = new Float32Array(header.words);
  for (let i = 0; i < header.words; i++) scales[i] = view.getFloat32(header.scales + 4 * i, true);
  const rows = new Int8Array(file.buffer, file.byteOffset + header.rows, header.words * header.dims);
  return { id: header.id, dims: header.dims, languages: header.languages, numbers, scales, rows };
}
