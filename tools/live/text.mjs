// Tables and numbers of the bench.
export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export const number = (value, digits = 0) =>
  value === undefined || Number.isNaN(value) ? "" : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}
