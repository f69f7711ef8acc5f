// One function: figures, histogram of latency, callers, children, inlined places, threads.
import * as l10n from "@vscode/l10n";
import type { CallRow, CaughtCall, FunctionRef, Report } from "../../extension/src/panel/panel-messages";
import { formatCalls, formatCount, formatDuration, formatPercent, percentOf } from "../../extension/src/base/units";
import { anchored, baseName, el, link } from "../base/dom";
import { histogramView } from "./histogram";
import { post, reveal } from "../base/host";
import { lossView, recordingView } from "./recording-view";
import { table, type Row } from "../base/table";

type Related = Report["callers"][number];

/** The head of the page: what is lost, the name, the figures; `caught`: of this one call. */
export function functionHead(report: Report, caught?: CaughtCall): HTMLElement {
  const { function: shown } = report;
  const place = shown.file === "" ? baseName(shown.binary) : `${baseName(shown.file)}:${String(shown.line)}`;
  return el(
    "header",
    {},
    lossView(report.recording),
    link(l10n.t("All functions"), l10n.t("Show every function of the recording"), () => {
      post({ type: "overview" });
    }),
    el("h1", { title: shown.binary }, shown.name),
    el(
      "p",
      { className: "place" },
      shown.file === "" ? place : link(place, `${shown.file}:${String(shown.line)}`, () => { reveal(shown.file, shown.line); }),
    ),
    ...(caught === undefined ? [] : [caughtText(caught)]),
    figures(report),
    ...correctedFigures(report),
    incomplete(report),
    recordingView(report.recording),
  );
}

function caughtText({ tid, latency, offCpu, slowerThan }: CaughtCall): HTMLElement {
  const text = l10n.t(
    "Caught: a call on thread {0} took {1}, longer than {2}; for {3} of it the thread did not run. Figures and flame graph are of this call.",
    tid,
    formatDuration(latency),
    formatDuration(slowerThan),
    formatDuration(offCpu),
  );
  return el("p", { className: "caught" }, text);
}

function beforeTable(caught: CaughtCall): HTMLElement {
  const row = (call: CallRow): Row => ({
    cells: [
      l10n.t("{0} before", formatDuration(caught.start - call.start)),
      formatDuration(call.latency),
      formatDuration(call.offCpu),
      formatDuration(call.self),
      call.state === "complete" ? "" : call.state === "incomplete" ? l10n.t("incomplete") : l10n.t("unwound"),
    ],
  });
  return table(l10n.t("What led up to it: the calls before on its thread"), 1, [l10n.t("began"), l10n.t("latency"), l10n.t("off-CPU"), l10n.t("self"), ""], caught.before.map(row));
}

function instancesTable({ instances, recording }: Report): HTMLElement[] {
  if (instances === undefined) return [];
  const time = (ns: number): string => (recording.resolution_ns === null ? l10n.t("unknown") : formatDuration(ns));
  const rows = instances.map((row): Row => {
    const ref: FunctionRef = { name: row.name, binary: row.binary, address: row.address };
    const place = `${baseName(row.file)}:${String(row.line)}`;
    return {
      cells: [
        link(row.name, l10n.t("Show {0}", row.name), () => { post({ type: "function", function: ref }); }),
        row.file === "" ? (row.address ?? "") : link(place, `${row.file}:${String(row.line)}`, () => { reveal(row.file, row.line); }),
        formatCount(row.calls.complete),
        time(row.latency.mean),
        time(row.latency.p99),
        time(row.latency.total),
      ],
    };
  });
  return [table(l10n.t("Of these functions"), 2, [l10n.t("function"), l10n.t("declared"), l10n.t("calls"), l10n.t("mean"), "p99", l10n.t("total")], rows)];
}

export function functionTables(report: Report, caught?: CaughtCall): HTMLElement[] {
  const { off_cpu_known: known, resolution_ns: resolution } = report.recording;
  const time = (ns: number): string => (resolution === null ? l10n.t("unknown") : formatDuration(ns));
  const heads = [l10n.t("call site"), l10n.t("calls"), l10n.t("mean"), "p99", l10n.t("total"), l10n.t("off-CPU"), l10n.t("CPU")];
  const rows = (related: readonly Related[]): Row[] => related.map((row) => relatedRow(row, known, time));
  const threads = report.threads.map((row) => ({
    cells: [
      `${row.comm} (${String(row.tid)})`,
      formatCount(row.calls),
      time(row.latency.mean),
      time(row.latency.p99),
      time(row.latency.total),
      known ? formatDuration(row.off_cpu.total) : l10n.t("unknown"),
      row.incomplete > 0 ? formatCount(row.incomplete) : "",
      row.unwound > 0 ? formatCount(row.unwound) : "",
      row.gaps > 0 ? formatDuration(row.lost_ns) : "",
    ],
  }));
  return [
    ...(caught === undefined ? [] : [beforeTable(caught)]),
    ...instancesTable(report),
    anchored("histogram", histogramView(report.histogram, known)),
    anchored("callers", table(l10n.t("Callers"), 2, [l10n.t("caller"), ...heads], rows(report.callers))),
    anchored("children", table(l10n.t("Children"), 2, [l10n.t("child"), ...heads], rows(report.children))),
    ...inlinedTable(report, time),
    table(l10n.t("Threads"), 1, [l10n.t("thread"), l10n.t("calls"), l10n.t("mean"), "p99", l10n.t("total"), l10n.t("off-CPU"), l10n.t("incomplete"), l10n.t("unwound"), l10n.t("lost")], threads),
  ];
}

function inlinedTable(report: Report, time: (ns: number) => string): HTMLElement[] {
  if (report.may_be_inlined === true) {
    const count = link(l10n.t("Count where it was inlined"), l10n.t("Decodes the trace again"), () => {
      post({ type: "function", function: report.function, inlined: true });
    });
    return [el("p", { className: "inlined" }, l10n.t("The compiler also inlined this function."), " ", count)];
  }
  if (report.inlined === undefined || report.inlined.length === 0) return [];
  const rows = report.inlined.map(({ function: name, binary, address, file, line, calls, latency }): Row => {
    const place = `${baseName(file)}:${String(line)}`;
    return {
      cells: [
        el("span", { title: binary }, name),
        file === "" ? address : link(place, `${file}:${String(line)}`, () => { reveal(file, line); }),
        calls === null ? l10n.t("not countable") : formatCount(calls.complete),
        latency === null ? "" : time(latency.mean),
        latency === null ? "" : time(latency.p99),
        latency === null ? "" : time(latency.total),
        latency === null ? "" : `± ${formatDuration(latency.resolution)}`,
      ],
    };
  });
  return [table(l10n.t("Inlined at"), 2, [l10n.t("function"), l10n.t("line"), l10n.t("executions"), l10n.t("mean"), "p99", l10n.t("total"), l10n.t("known to")], rows)];
}

function figures(report: Report): HTMLElement {
  const { latency, off_cpu: offCpu, on_cpu: onCpu } = report;
  const { off_cpu_known: known, resolution_ns: resolution } = report.recording;
  const time = (ns: number): string => (resolution === null ? l10n.t("unknown") : formatDuration(ns));
  const share = formatPercent(percentOf(offCpu.total, latency.total));
  const split = l10n.t(
    "blocked {0}, preempted {1}, switches: {2}",
    formatDuration(offCpu.blocked),
    formatDuration(offCpu.preempted),
    formatCount(offCpu.switches),
  );
  const values: [string, string, string][] = [
    [l10n.t("mean"), time(latency.mean), l10n.t("standard deviation {0}", time(latency.stddev))],
    ["p50", time(latency.p50), l10n.t("half of the calls took at most this")],
    ["p90", time(latency.p90), l10n.t("{0} % of the calls took at most this", "90")],
    ["p99", time(latency.p99), l10n.t("{0} % of the calls took at most this", "99")],
    ["p99.9", time(latency.p999), l10n.t("{0} % of the calls took at most this", "99.9")],
    [l10n.t("max"), time(latency.max), l10n.t("min {0}", time(latency.min))],
    [l10n.t("calls"), formatCount(report.calls.complete), l10n.t("complete calls: start and end seen, nothing lost between")],
    [l10n.t("total"), time(latency.total), l10n.t("sum of the latency of the complete calls")],
    [l10n.t("on-CPU"), known ? formatDuration(onCpu.mean) : l10n.t("unknown"), l10n.t("mean of a call")],
    [l10n.t("off-CPU"), known ? `${formatDuration(offCpu.mean)} (${share})` : l10n.t("unknown"), l10n.t("mean of a call; {0}", split)],
    [l10n.t("self"), time(report.self.mean), l10n.t("mean of a call, without the functions that it calls and that were measured")],
    [l10n.t("CPU"), formatPercent(report.cpu_percent), l10n.t("100 % is one core")],
  ];
  return figureList("figures", values);
}

function figureList(className: string, values: readonly [string, string, string][]): HTMLElement {
  const cells = values.map(([name, value, title]) => el("div", { title }, el("dt", {}, name), el("dd", {}, value)));
  return el("dl", { className }, ...cells);
}

/** Beside the figures as they were measured: without what the probes themselves took. */
function correctedFigures({ corrected }: Report): HTMLElement[] {
  if (corrected === undefined) return [];
  const { mean, stddev, p50, p90, p99, p999, min, max, removed, uncertainty } = corrected;
  const values: [string, string, string][] = [
    [l10n.t("mean"), formatDuration(mean), l10n.t("standard deviation {0}", formatDuration(stddev))],
    ["p50", formatDuration(p50), l10n.t("half of the calls took at most this")],
    ["p90", formatDuration(p90), l10n.t("{0} % of the calls took at most this", "90")],
    ["p99", formatDuration(p99), l10n.t("{0} % of the calls took at most this", "99")],
    ["p99.9", formatDuration(p999), l10n.t("{0} % of the calls took at most this", "99.9")],
    [l10n.t("max"), formatDuration(max), l10n.t("min {0}", formatDuration(min))],
  ];
  const text = l10n.t(
    "Corrected: without the probes' own time, {0} ± {1} a call as measured on functions of known length just before. The figures above are as measured.",
    formatDuration(removed),
    formatDuration(uncertainty),
  );
  return [el("section", { className: "corrected" }, el("p", {}, text), figureList("corrected-figures", values))];
}

function incomplete({ calls }: Report): HTMLElement | undefined {
  const parts: string[] = [];
  if (calls.incomplete > 0) parts.push(l10n.t("incomplete, not in the statistics: {0}", formatCalls(calls.incomplete)));
  if (calls.unwound > 0) parts.push(l10n.t("unwound (exception, longjmp or thread exit), counted apart: {0}", formatCalls(calls.unwound)));
  return parts.length === 0 ? undefined : el("p", { className: "apart" }, parts.join("; "));
}

function relatedRow(row: Related, offCpuKnown: boolean, time: (ns: number) => string): Row {
  const ref: FunctionRef = { name: row.name, binary: row.binary, address: row.address };
  const name = row.address === null ? row.name : link(row.name, l10n.t("Show {0}", row.name), () => { post({ type: "function", function: ref }); });
  const place = `${baseName(row.file)}:${String(row.line)}`;
  const site =
    row.file === ""
      ? (row.call_site ?? "")
      : link(place, `${row.file}:${String(row.line)}`, () => { reveal(row.file, row.line); });
  return {
    cells: [
      name,
      site,
      formatCount(row.calls),
      time(row.latency.mean),
      time(row.latency.p99),
      time(row.latency.total),
      offCpuKnown ? formatDuration(row.off_cpu.total) : l10n.t("unknown"),
      formatPercent(row.cpu_percent),
    ],
  };
}
