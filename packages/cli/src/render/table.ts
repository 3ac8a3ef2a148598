import Table from "cli-table3";
import type { Paint } from "./paint.js";

const blank = {
  mid: "",
  "left-mid": "",
  "mid-mid": "",
  "right-mid": "",
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
};
const chars = {
  ...blank,
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  right: "",
  middle: "  ",
};

/** Columns without lines, headings in capitals: easy for eyes, cut and grep. Chinese takes two columns a character. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const table = new Table({
    head: head.map((title) => paint.dim(title)),
    chars,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  for (const row of rows) table.push(row.map(oneLine));
  const lines = table.toString().split("\n");
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}

/** Names and values under each other. */
export function renderFields(fields: readonly (readonly [string, string | undefined])[], paint: Paint): string {
  const shown = fields.filter((field): field is [string, string] => field[1] !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${paint.dim(name.padEnd(width))}  ${value}\n`).join("");
}

/** A line break or a control character from somebody's card must not break the table, or the terminal. */
function oneLine(cell: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for; ESC only as the start of a colour.
  return cell.replace(/\u001b(?!\[[0-9;]*m)|[\u0000-\u001a\u001c-\u001f\u007f-\u009f]+/g, " ");
}

/** Cut to so many characters, with a sign that it was. */
export function shorten(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
