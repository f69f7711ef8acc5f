// What is known of a function while its trace is still being decoded.
import type { PartialReport } from "../extension/src/panel-messages";
import { formatBytes, formatCount, formatDuration, percentOf } from "../extension/src/units";
import { el } from "./dom";
import { histogramView } from "./histogram";

export function partialView(report: PartialReport): HTMLElement {
  const { calls, latency } = report;
  const counted = calls.complete > 0;
  const time = (ns: number): string => (counted ? formatDuration(ns) : "none yet");
  const values: [string, string][] = [
    ["calls so far", formatCount(calls.complete)],
    ["mean", time(latency.mean)],
    ["min", time(latency.min)],
    ["max", time(latency.max)],
    ["total", time(latency.total)],
    ["off-CPU", time(report.off_cpu.total)],
  ];
  const figures = values.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  const share = `${percentOf(report.done, report.total).toFixed(0)} % of ${formatBytes(report.total)} of trace is decoded.`;
  const progress = el("progress", { max: Math.max(1, report.total), value: report.done });
  progress.setAttribute("aria-label", "Trace decoded");
  return el(
    "section",
    { className: "partial" },
    el("h1", { title: report.function.binary }, report.function.name),
    el("p", { className: "place", role: "status" }, share),
    progress,
    el("dl", { className: "figures" }, ...figures),
    el("p", { className: "apart" }, "Exact for what is decoded so far. Percentiles, callers, children and the flame graph come with the whole."),
    histogramView(report.histogram, true),
  );
}
