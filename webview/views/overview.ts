// All functions of the recording, most inclusive time first, with a filter by name.
import * as l10n from "@vscode/l10n";
import { formatCount, formatDuration, formatFigure } from "../../extension/src/base/units";
import type { FunctionSummary, FunctionsResult } from "../../extension/src/panel/panel-messages";
import { baseName, el } from "../base/dom";
import { functionLink } from "../base/links";
import { table } from "../base/table";
import { lossView, methodView, recordingView } from "./recording-view";

const mostRows = 200;

export function overviewHead({ recording, functions }: FunctionsResult): HTMLElement {
  return el(
    "header",
    {},
    lossView(recording),
    el("h1", {}, functions.length === 1 ? l10n.t("1 function") : l10n.t("{0} functions", formatCount(functions.length))),
    methodView(recording),
    recordingView(recording),
  );
}

export function overviewTable({ recording, functions }: FunctionsResult): HTMLElement {
  const body = el("div");
  const draw = (filter: string): void => {
    const wanted = filter.toLowerCase();
    const found = functions.filter(({ name }) => name.toLowerCase().includes(wanted));
    const rows = found.slice(0, mostRows).map((row) => ({ cells: cells(row, recording.off_cpu_known) }));
    const heads = [l10n.t("function"), l10n.t("calls"), l10n.t("mean"), l10n.t("inclusive"), l10n.t("self"), l10n.t("off-CPU"), l10n.t("incomplete"), l10n.t("unwound"), l10n.t("binary")];
    const rest = found.length - rows.length;
    body.replaceChildren(table(l10n.t("Functions"), 1, heads, rows));
    if (rest > 0) body.append(el("p", { className: "apart" }, l10n.t("{0} more. Filter by name to see them.", formatCount(rest))));
  };
  const input = el("input", { type: "search", placeholder: l10n.t("Filter by name"), ariaLabel: l10n.t("Filter by name") });
  input.addEventListener("input", () => {
    draw(input.value);
  });
  draw("");
  return el("div", {}, functions.length > 10 ? input : undefined, body);
}

function cells(row: FunctionSummary, offCpuKnown: boolean): (Node | string)[] {
  return [
    functionLink(row),
    formatCount(row.complete),
    row.complete > 0 ? formatFigure(row.mean, row.uncertainty?.mean ?? 0) : "–",
    formatFigure(row.inclusive, row.uncertainty?.inclusive ?? 0),
    row.self === null ? el("span", { title: l10n.t("unknown: some callees were not measured") }, "—") : formatFigure(row.self, row.uncertainty?.self ?? 0),
    offCpuKnown ? formatDuration(row.off_cpu) : l10n.t("unknown"),
    formatCount(row.incomplete),
    formatCount(row.unwound),
    el("span", { title: row.binary }, baseName(row.binary)),
  ];
}
