// The figures as a table in Markdown, to be read as it stands or pasted into a page.

/** `columns`: the settings, one beside the other; each is held against what is wanted of it. */
export function printTable({ date, split, node, cores, load }, columns, rows) {
  const head = ["figure", ...columns.flatMap(({ name }) => ["wanted", name, ""])];
  const body = rows.map(({ row, unit, better, values, ...wishes }) => [
    row,
    ...columns.flatMap(({ name, wanted }) => [
      wishes[wanted] === undefined ? "" : `${better === "more" ? "≥" : "≤"} ${wishes[wanted]} ${unit}`,
      shown(values[name], unit),
      verdict(values[name], wishes[wanted], better),
    ]),
  ]);
  const lines = [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`);
  const how = `Measured on ${date} on the ${split} splits, on ${cores} cores with Node ${node.replace(/^v/, "")}; 5 examples a card.`;
  // Shares do not mind, times do.
  const busy =
    load > cores / 2
      ? [`The machine was busy with other work (load ${load.toFixed(1)} before the start): read times with care.`]
      : [];
  return [how, ...busy, "", ...lines].join("\n");
}

function shown(value, unit) {
  if (value === null || value === undefined) return "-";
  return `${value.toFixed(value < 10 && unit === "ms" ? 2 : 1)} ${unit}`;
}

function verdict(value, wanted, better) {
  if (wanted === undefined || value === null || value === undefined) return "";
  return (better === "more" ? value >= wanted : value <= wanted) ? "pass" : "MISS";
}
