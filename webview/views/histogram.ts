// The latency histogram in powers of two. It separates the calls that were switched out.
import * as l10n from "@vscode/l10n";
import { formatCalls, formatCount, formatDuration } from "../../extension/src/base/units";
import type { Report } from "../../extension/src/panel/panel-messages";
import { el } from "../base/dom";

type Bucket = Report["histogram"][number];

export function histogramView(buckets: readonly Bucket[], offCpuKnown: boolean): HTMLElement {
  const most = Math.max(1, ...buckets.map((bucket) => bucket.calls));
  const rows = buckets.map((bucket) => bucketRow(bucket, most, offCpuKnown));
  return el(
    "section",
    {},
    el("h2", {}, l10n.t("Latency")),
    offCpuKnown
      ? el("p", { className: "legend" }, el("span", { className: "on key" }), l10n.t("always on-CPU"), el("span", { className: "off key" }), l10n.t("switched out at least once"))
      : undefined,
    el("div", { className: "histogram" }, ...rows),
  );
}

function bucketRow({ low, high, calls, off_cpu_calls: switched }: Bucket, most: number, offCpuKnown: boolean): HTMLElement {
  const on = el("span", { className: "on" });
  const off = el("span", { className: "off" });
  on.style.width = `${String((100 * (calls - switched)) / most)}%`;
  off.style.width = `${String((100 * switched) / most)}%`;
  const range = low === 0 && high > 1 ? `< ${formatDuration(high)}` : `${formatDuration(low)} – ${formatDuration(high)}`;
  const title = `${range}: ${formatCalls(calls)}${offCpuKnown ? `, ${l10n.t("{0} switched out", formatCount(switched))}` : ""}`;
  return el(
    "div",
    { className: "bucket", title },
    el("span", { className: "range" }, range),
    el("span", { className: "bar" }, on, off),
    el("span", { className: "count" }, formatCount(calls)),
  );
}
