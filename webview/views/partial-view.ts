// The figures of a function while its trace is being decoded.
import * as l10n from "@vscode/l10n";
import { formatBytes, formatCount, formatDuration, percentOf } from "../../extension/src/base/units";
import type { PartialReport } from "../../extension/src/panel/panel-messages";
import { el } from "../base/dom";
import { histogramView } from "./histogram";

export function partialView(report: PartialReport): HTMLElement {
  const { calls, latency } = report;
  const counted = calls.complete > 0;
  const time = (ns: number): string => (counted ? formatDuration(ns) : l10n.t("none yet"));
  const values: [string, string][] = [
    [l10n.t("calls so far"), formatCount(calls.complete)],
    [l10n.t("mean"), time(latency.mean)],
    [l10n.t("min"), time(latency.min)],
    [l10n.t("max"), time(latency.max)],
    [l10n.t("total"), time(latency.total)],
    [l10n.t("off-CPU"), time(report.off_cpu.total)],
  ];
  const figures = values.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  const share = l10n.t("{0} % of {1} decoded", percentOf(report.done, report.total).toFixed(0), formatBytes(report.total));
  const progress = el("progress", { max: Math.max(1, report.total), value: report.done });
  progress.setAttribute("aria-label", l10n.t("Decoding progress"));
  return el(
    "section",
    { className: "partial" },
    el("h1", { title: report.function.binary }, report.function.name),
    el("p", { className: "location", role: "status" }, share),
    progress,
    el("dl", { className: "figures" }, ...figures),
    el("p", { className: "apart" }, l10n.t("The figures are exact for the decoded part. Percentiles, callers, callees and the flame graph appear when decoding is complete.")),
    histogramView(report.histogram, true),
  );
}
