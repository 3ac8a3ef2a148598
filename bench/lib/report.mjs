/** A number as a person reads it: three significant digits, thousands apart. */
export function human(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

const withUnit = (value, unit) =>
  `${human(value)}${unit === "" || unit.startsWith("/") || unit === "%" ? "" : " "}${unit}`;

function wantedText({ of, atLeast, atMost, aim }, unit) {
  const limit = atLeast ?? atMost;
  const sign = atLeast === undefined ? "<=" : ">=";
  const text = of === "ratio" ? `${sign} ${limit} x` : `${sign} ${withUnit(limit, unit)}`;
  return aim === undefined ? text : `${text} (aim ${aim})`;
}

const spreadText = ({ min, max }) => (min === max ? "" : ` [${human(min)}..${human(max)}]`);

/** What a table says of one figure, column by column. */
export function cells(figure) {
  if (figure.error) return [figure.name, "-", "-", "-", "-", "FAILED"];
  const { title, unit, ours, yardstick, ratio, wanted, against, pass } = figure;
  return [
    title,
    withUnit(ours.median, unit),
    yardstick ? `${withUnit(yardstick.median, unit)} ${against}` : "-",
    ratio ? `${human(ratio.median)}${spreadText(ratio)}` : "-",
    wantedText(wanted, unit),
    pass ? "pass" : "MISS",
  ];
}

export function table(figures) {
  const rows = [["figure", "ours", "yardstick", "ratio [min..max]", "wanted", ""], ...figures.map(cells)];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join("  ")
      .trimEnd();
  const lines = rows.map(line);
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  for (const { name, error } of figures) if (error) lines.push(`\n${name}: ${error}`);
  return lines.join("\n");
}

/** Everything a reader of the numbers must know to judge them. */
export const report = (machine, figures, { seconds, rounds }) => ({
  date: new Date().toISOString(),
  machine,
  seconds,
  rounds,
  figures,
});
