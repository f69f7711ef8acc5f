// One function: figures, histogram of latency, callers, children, inlined places, threads.
import type { CallRow, CaughtCall, FunctionRef, Report } from "../extension/src/panel-messages";
import { formatCalls, formatCount, formatDuration, formatPercent, percentOf } from "../extension/src/units";
import { baseName, el, link } from "./dom";
import { histogramView } from "./histogram";
import { post, reveal } from "./host";
import { lossView, recordingView } from "./recording-view";
import { table, type Row } from "./table";

type Related = Report["callers"][number];

/** The head of the page: what is lost, the name, the figures; `caught`: of this one call. */
export function functionHead(report: Report, caught?: CaughtCall): HTMLElement {
  const { function: shown } = report;
  const place = shown.file === "" ? baseName(shown.binary) : `${baseName(shown.file)}:${String(shown.line)}`;
  return el(
    "header",
    {},
    lossView(report.recording),
    link("All functions", "Show every function of the recording", () => {
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
  const text =
    `Caught: a call on thread ${String(tid)} took ${formatDuration(latency)}, longer than ${formatDuration(slowerThan)}; ` +
    `for ${formatDuration(offCpu)} of it the thread did not run. Figures and flame graph are of this call.`;
  return el("p", { className: "caught" }, text);
}

function beforeTable(caught: CaughtCall): HTMLElement {
  const row = (call: CallRow): Row => ({
    cells: [
      `${formatDuration(caught.start - call.start)} before`,
      formatDuration(call.latency),
      formatDuration(call.offCpu),
      formatDuration(call.self),
      call.state === "complete" ? "" : call.state,
    ],
  });
  return table("What led up to it: the calls before on its thread", 1, ["began", "latency", "off-CPU", "self", ""], caught.before.map(row));
}

function instancesTable({ instances, recording }: Report): HTMLElement[] {
  if (instances === undefined) return [];
  const time = (ns: number): string => (recording.resolution_ns === null ? "unknown" : formatDuration(ns));
  const rows = instances.map((row): Row => {
    const ref: FunctionRef = { name: row.name, binary: row.binary, address: row.address };
    const place = `${baseName(row.file)}:${String(row.line)}`;
    return {
      cells: [
        link(row.name, `Show ${row.name}`, () => { post({ type: "function", function: ref }); }),
        row.file === "" ? (row.address ?? "") : link(place, `${row.file}:${String(row.line)}`, () => { reveal(row.file, row.line); }),
        formatCount(row.calls.complete),
        time(row.latency.mean),
        time(row.latency.p99),
        time(row.latency.total),
      ],
    };
  });
  return [table("Of these functions", 2, ["function", "declared", "calls", "mean", "p99", "total"], rows)];
}

export function functionTables(report: Report, caught?: CaughtCall): HTMLElement[] {
  const { off_cpu_known: known, resolution_ns: resolution } = report.recording;
  const time = (ns: number): string => (resolution === null ? "unknown" : formatDuration(ns));
  const heads = ["call site", "calls", "mean", "p99", "total", "off-CPU", "CPU"];
  const rows = (related: readonly Related[]): Row[] => related.map((row) => relatedRow(row, known, time));
  const threads = report.threads.map((row) => ({
    cells: [
      `${row.comm} (${String(row.tid)})`,
      formatCount(row.calls),
      time(row.latency.mean),
      time(row.latency.p99),
      time(row.latency.total),
      known ? formatDuration(row.off_cpu.total) : "unknown",
      row.incomplete > 0 ? formatCount(row.incomplete) : "",
      row.unwound > 0 ? formatCount(row.unwound) : "",
      row.gaps > 0 ? formatDuration(row.lost_ns) : "",
    ],
  }));
  return [
    ...(caught === undefined ? [] : [beforeTable(caught)]),
    ...instancesTable(report),
    histogramView(report.histogram, known),
    table("Callers", 2, ["caller", ...heads], rows(report.callers)),
    table("Children", 2, ["child", ...heads], rows(report.children)),
    ...inlinedTable(report, time),
    table("Threads", 1, ["thread", "calls", "mean", "p99", "total", "off-CPU", "incomplete", "unwound", "lost"], threads),
  ];
}

function inlinedTable(report: Report, time: (ns: number) => string): HTMLElement[] {
  if (report.may_be_inlined === true) {
    const count = link("Count where it was inlined", "Decodes the trace again", () => {
      post({ type: "function", function: report.function, inlined: true });
    });
    return [el("p", { className: "inlined" }, "The compiler also inlined this function. ", count)];
  }
  if (report.inlined === undefined || report.inlined.length === 0) return [];
  const rows = report.inlined.map(({ function: name, binary, address, file, line, calls, latency }): Row => {
    const place = `${baseName(file)}:${String(line)}`;
    return {
      cells: [
        el("span", { title: binary }, name),
        file === "" ? address : link(place, `${file}:${String(line)}`, () => { reveal(file, line); }),
        calls === null ? "not countable" : formatCount(calls.complete),
        latency === null ? "" : time(latency.mean),
        latency === null ? "" : time(latency.p99),
        latency === null ? "" : time(latency.total),
        latency === null ? "" : `± ${formatDuration(latency.resolution)}`,
      ],
    };
  });
  return [table("Inlined at", 2, ["function", "line", "executions", "mean", "p99", "total", "known to"], rows)];
}

function figures(report: Report): HTMLElement {
  const { latency, off_cpu: offCpu, on_cpu: onCpu } = report;
  const { off_cpu_known: known, resolution_ns: resolution } = report.recording;
  const time = (ns: number): string => (resolution === null ? "unknown" : formatDuration(ns));
  const share = formatPercent(percentOf(offCpu.total, latency.total));
  const split = `blocked ${formatDuration(offCpu.blocked)}, preempted ${formatDuration(offCpu.preempted)}, ${formatCount(offCpu.switches)} switches`;
  const values: [string, string, string][] = [
    ["mean", time(latency.mean), `standard deviation ${time(latency.stddev)}`],
    ["p50", time(latency.p50), "half of the calls took at most this"],
    ["p90", time(latency.p90), "90 % of the calls took at most this"],
    ["p99", time(latency.p99), "99 % of the calls took at most this"],
    ["p99.9", time(latency.p999), "99.9 % of the calls took at most this"],
    ["max", time(latency.max), `min ${time(latency.min)}`],
    ["calls", formatCount(report.calls.complete), "complete calls: start and end seen, nothing lost between"],
    ["total", time(latency.total), "sum of the latency of the complete calls"],
    ["on-CPU", known ? formatDuration(onCpu.mean) : "unknown", "mean of a call"],
    ["off-CPU", known ? `${formatDuration(offCpu.mean)} (${share})` : "unknown", `mean of a call; ${split}`],
    ["self", time(report.self.mean), "mean of a call, without the functions that it calls and that were measured"],
    ["CPU", formatPercent(report.cpu_percent), "100 % is one core"],
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
    ["mean", formatDuration(mean), `standard deviation ${formatDuration(stddev)}`],
    ["p50", formatDuration(p50), "half of the calls took at most this"],
    ["p90", formatDuration(p90), "90 % of the calls took at most this"],
    ["p99", formatDuration(p99), "99 % of the calls took at most this"],
    ["p99.9", formatDuration(p999), "99.9 % of the calls took at most this"],
    ["max", formatDuration(max), `min ${formatDuration(min)}`],
  ];
  const text = `Corrected: without the probes' own time, ${formatDuration(removed)} ± ${formatDuration(uncertainty)} a call as measured on functions of known length just before. The figures above are as measured.`;
  return [el("section", { className: "corrected" }, el("p", {}, text), figureList("corrected-figures", values))];
}

function incomplete({ calls }: Report): HTMLElement | undefined {
  const parts: string[] = [];
  if (calls.incomplete > 0) parts.push(`${formatCalls(calls.incomplete)} incomplete, not in the statistics`);
  if (calls.unwound > 0) parts.push(`${formatCalls(calls.unwound)} unwound (exception, longjmp or thread exit), counted apart`);
  return parts.length === 0 ? undefined : el("p", { className: "apart" }, parts.join("; "));
}

function relatedRow(row: Related, offCpuKnown: boolean, time: (ns: number) => string): Row {
  const ref: FunctionRef = { name: row.name, binary: row.binary, address: row.address };
  const name = row.address === null ? row.name : link(row.name, `Show ${row.name}`, () => { post({ type: "function", function: ref }); });
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
      offCpuKnown ? formatDuration(row.off_cpu.total) : "unknown",
      formatPercent(row.cpu_percent),
    ],
  };
}
