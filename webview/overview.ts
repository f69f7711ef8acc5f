// Every function of the recording, most inclusive time first, with a filter by name.
import type { FunctionSummary, FunctionsResult } from "../extension/src/panel-messages";
import { formatCount, formatDuration } from "../extension/src/units";
import { baseName, el, link } from "./dom";
import { post } from "./host";
import { lossView, recordingView } from "./recording-view";
import { table } from "./table";

const mostRows = 200;

export function overviewHead({ recording, functions }: FunctionsResult): HTMLElement {
  return el(
    "header",
    {},
    lossView(recording),
    el("h1", {}, `${formatCount(functions.length)} ${functions.length === 1 ? "function" : "functions"}`),
    recordingView(recording),
  );
}

export function overviewTable({ recording, functions }: FunctionsResult): HTMLElement {
  const body = el("div");
  const draw = (filter: string): void => {
    const wanted = filter.toLowerCase();
    const found = functions.filter(({ name }) => name.toLowerCase().includes(wanted));
    const rows = found.slice(0, mostRows).map((row) => ({ cells: cells(row, recording.off_cpu_known) }));
    const heads = ["function", "calls", "mean", "inclusive", "self", "off-CPU", "incomplete", "unwound", "binary"];
    const rest = found.length - rows.length;
    body.replaceChildren(table("Functions", 1, heads, rows));
    if (rest > 0) body.append(el("p", { className: "apart" }, `${formatCount(rest)} more: filter by name.`));
  };
  const input = el("input", { type: "search", placeholder: "Filter by name", ariaLabel: "Filter by name" });
  input.addEventListener("input", () => {
    draw(input.value);
  });
  draw("");
  return el("div", {}, functions.length > 10 ? input : undefined, body);
}

function cells(row: FunctionSummary, offCpuKnown: boolean): (Node | string)[] {
  return [
    link(row.name, `Show ${row.name}`, () => {
      post({ type: "function", function: { name: row.name, binary: row.binary, address: row.address } });
    }),
    formatCount(row.complete),
    row.complete > 0 ? formatDuration(row.mean) : "–",
    formatDuration(row.inclusive),
    formatDuration(row.self),
    offCpuKnown ? formatDuration(row.off_cpu) : "unknown",
    formatCount(row.incomplete),
    formatCount(row.unwound),
    el("span", { title: row.binary }, baseName(row.binary)),
  ];
}
