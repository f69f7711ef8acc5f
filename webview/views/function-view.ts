// One function: figures, latency histogram, callers, callees, inlined executions and threads.
import * as l10n from "@vscode/l10n";
import { explainedMean, latencyFigure, type FigureName } from "../../extension/src/base/latency-text";
import { formatCalls, formatCount, formatDuration, formatFigure, formatPercent, percentOf } from "../../extension/src/base/units";
import type { CallRow, Report, SlowCall } from "../../extension/src/panel/panel-messages";
import { asSection, baseName, el, link } from "../base/dom";
import { post } from "../base/host";
import { deeperButton, functionLink, sourceLink, withMenu } from "../base/links";
import { table, type Row } from "../base/table";
import { histogramView } from "./histogram";
import { lossView, methodView, recordingView } from "./recording-view";

type Related = Report["callers"][number];

/** Shows losses, the name and the figures; with `slowCall`, the figures of this call. */
export function functionHead(report: Report, slowCall?: SlowCall): HTMLElement {
  const { function: shown } = report;
  return el(
    "header",
    {},
    lossView(report.recording),
    link(l10n.t("All functions"), l10n.t("Show every function of the recording"), () => {
      post({ type: "overview" });
    }),
    el("h1", { title: shown.binary }, shown.name),
    el("p", { className: "location" }, sourceLink(shown.file, shown.line, baseName(shown.binary))),
    ...(slowCall === undefined ? [] : [slowCallText(slowCall)]),
    methodView(report.recording),
    figures(report),
    ...rawFigures(report),
    incomplete(report),
    recordingView(report.recording),
  );
}

function slowCallText({ tid, latency, offCpu, threshold }: SlowCall): HTMLElement {
  const text = l10n.t(
    "A call on thread {0} took {1}, longer than {2}. For {3} of this time, the thread did not run. The figures and the flame graph show this call.",
    tid,
    formatDuration(latency ?? 0),
    formatDuration(threshold),
    formatDuration(offCpu),
  );
  return el("p", { className: "caught" }, text);
}

/** "5 µs to 2 ms": the end of the call was not seen. */
function boundsText({ bounds }: CallRow): string {
  const [least, most] = bounds ?? [0, null];
  const from = formatDuration(least ?? 0);
  return most === null || most === undefined ? l10n.t("at least {0}", from) : l10n.t("{0} to {1}", from, formatDuration(most));
}

function beforeTable(slowCall: SlowCall): HTMLElement {
  const row = (call: CallRow): Row => ({
    cells: [
      l10n.t("{0} before", formatDuration(slowCall.start - call.start)),
      call.latency === null ? boundsText(call) : formatFigure(call.latency, call.within),
      formatDuration(call.offCpu),
      call.self === null ? "—" : formatDuration(call.self),
      call.state === "complete" ? "" : call.state === "incomplete" ? l10n.t("incomplete") : l10n.t("unwound"),
    ],
  });
  return table(l10n.t("Calls before it on the same thread"), 1, [l10n.t("start"), l10n.t("latency"), l10n.t("off-CPU"), l10n.t("self"), ""], slowCall.before.map(row));
}

function instancesTable({ instances, recording }: Report): HTMLElement[] {
  if (instances === undefined) return [];
  const time = timeFormat(recording);
  const rows = instances.map((row): Row => ({
    cells: [
      functionLink(row),
      sourceLink(row.file, row.line, row.address ?? ""),
      formatCount(row.calls.complete),
      ...time(row.latency),
    ],
  }));
  return [table(l10n.t("Functions"), 2, [l10n.t("function"), l10n.t("declaration"), l10n.t("calls"), l10n.t("mean"), "p99", l10n.t("total")], rows)];
}

export function functionTables(report: Report, slowCall?: SlowCall): HTMLElement[] {
  const { off_cpu_known: known } = report.recording;
  const time = timeFormat(report.recording);
  const heads = [l10n.t("call site"), l10n.t("calls"), l10n.t("mean"), "p99", l10n.t("total"), l10n.t("off-CPU"), l10n.t("CPU")];
  const rows = (related: readonly Related[], deeper = false): Row[] => related.map((row) => relatedRow(row, known, time, deeper));
  const probes = report.recording.backend === "uprobe";
  const threads = report.threads.map((row) => ({
    cells: [
      `${row.comm} (${String(row.tid)})`,
      formatCount(row.calls),
      ...time(row.latency),
      known ? formatDuration(row.off_cpu.total) : l10n.t("unknown"),
      row.incomplete > 0 ? formatCount(row.incomplete) : "",
      row.unwound > 0 ? formatCount(row.unwound) : "",
      row.gaps > 0 ? formatDuration(row.lost_ns) : "",
    ],
  }));
  return [
    ...(slowCall === undefined ? [] : [beforeTable(slowCall)]),
    ...instancesTable(report),
    asSection("histogram", histogramView(report.histogram, known)),
    asSection("callers", table(l10n.t("Callers"), 2, [l10n.t("caller"), ...heads], rows(report.callers))),
    asSection("children", table(l10n.t("Callees"), 2, [l10n.t("callee"), ...heads], rows(report.children, probes))),
    ...inlinedTable(report, time),
    table(l10n.t("Threads"), 1, [l10n.t("thread"), l10n.t("calls"), l10n.t("mean"), "p99", l10n.t("total"), l10n.t("off-CPU"), l10n.t("incomplete"), l10n.t("unwound"), l10n.t("lost")], threads),
  ];
}

function inlinedTable(report: Report, time: RowFormat): HTMLElement[] {
  if (report.may_be_inlined === true) {
    const count = link(l10n.t("Count inlined executions"), l10n.t("Decode the trace again"), () => {
      post({ type: "function", function: report.function, inlined: true });
    });
    return [el("p", { className: "inlined" }, l10n.t("The compiler also inlined this function."), " ", count)];
  }
  if (report.inlined === undefined || report.inlined.length === 0) return [];
  const rows = report.inlined.map(({ function: name, binary, address, file, line, calls, latency }): Row => {
    return {
      cells: [
        el("span", { title: binary }, name),
        sourceLink(file, line, address),
        calls === null ? l10n.t("not countable") : formatCount(calls.complete),
        ...(latency === null ? ["", "", ""] : time(latency)),
        latency === null ? "" : `± ${formatDuration(latency.resolution)}`,
      ],
    };
  });
  return [table(l10n.t("Inlined executions"), 2, [l10n.t("function"), l10n.t("line"), l10n.t("executions"), l10n.t("mean"), "p99", l10n.t("total"), l10n.t("uncertainty")], rows)];
}

type Figure = readonly [name: string, value: string, title: string];

function latencyFigures({ stddev }: Report["latency"], time: (name: FigureName) => string): Figure[] {
  const atMost = (percent: string): string => l10n.t("{0} % of the calls took at most this time", percent);
  return [
    [l10n.t("mean"), time("mean"), l10n.t("standard deviation {0}", formatDuration(stddev))],
    ["p50", time("p50"), atMost("50")],
    ["p90", time("p90"), atMost("90")],
    ["p99", time("p99"), atMost("99")],
    ["p99.9", time("p999"), atMost("99.9")],
    [l10n.t("max"), time("max"), l10n.t("min {0}", time("min"))],
  ];
}

function figures(report: Report): HTMLElement {
  const { latency, off_cpu: offCpu, on_cpu: onCpu } = report;
  const { off_cpu_known: known } = report.recording;
  const timed = report.recording.resolution_ns !== null;
  const time = (name: FigureName): string => (timed ? (name === "mean" ? explainedMean(latency) : latencyFigure(latency, name)) : l10n.t("unknown"));
  const part = ({ mean, uncertainty }: Report["on_cpu"] | Report["self"]): string =>
    mean === null || !timed ? l10n.t("unknown") : formatFigure(mean, uncertainty?.mean ?? 0);
  const share = formatPercent(percentOf(offCpu.total, latency.total));
  const split = l10n.t(
    "blocked {0}, preempted {1}, context switches: {2}",
    formatDuration(offCpu.blocked),
    formatDuration(offCpu.preempted),
    formatCount(offCpu.switches),
  );
  const values: Figure[] = [
    ...latencyFigures(latency, time),
    [l10n.t("calls"), formatCount(report.calls.complete), l10n.t("complete calls: the trace contains the start, the end and everything between")],
    [l10n.t("total"), time("total"), l10n.t("total latency of the complete calls")],
    [l10n.t("on-CPU"), known ? part(onCpu) : l10n.t("unknown"), l10n.t("mean per call")],
    [l10n.t("off-CPU"), known ? `${formatDuration(offCpu.mean)} (${share})` : l10n.t("unknown"), l10n.t("mean per call; {0}", split)],
    [
      l10n.t("self"),
      part(report.self),
      report.self.mean === null ? l10n.t("unknown: some callees were not measured") : l10n.t("mean per call, without the functions that it calls"),
    ],
    [l10n.t("CPU"), known ? formatPercent(report.cpu_percent) : l10n.t("unknown"), l10n.t("100 % is one core")],
  ];
  return figureList("figures", values);
}

function figureList(className: string, values: readonly Figure[]): HTMLElement {
  const cells = values.map(([name, value, title]) => el("div", { title }, el("dt", {}, name), el("dd", {}, value)));
  return el("dl", { className }, ...cells);
}

/** Shows the latency with the time of the probes, when the user asks for it. */
function rawFigures({ raw }: Report): HTMLElement[] {
  if (raw === undefined) return [];
  const text = l10n.t("With the time that the probes took. The figures above do not contain it.");
  const values = latencyFigures(raw.latency, (name) => formatDuration(raw.latency[name]));
  return [el("details", { className: "raw" }, el("summary", {}, l10n.t("Raw figures")), el("p", {}, text), figureList("raw-figures", values))];
}

function incomplete({ calls }: Report): HTMLElement | undefined {
  const parts: string[] = [];
  if (calls.incomplete > 0) parts.push(l10n.t("incomplete calls, not in the statistics: {0}", formatCalls(calls.incomplete)));
  if (calls.unwound > 0) parts.push(l10n.t("calls left by an exception, longjmp or thread exit, counted separately: {0}", formatCalls(calls.unwound)));
  return parts.length === 0 ? undefined : el("p", { className: "apart" }, parts.join("; "));
}

/** `deeper`: with a button that measures the function. */
function relatedRow(row: Related, offCpuKnown: boolean, time: RowFormat, deeper: boolean): Row {
  const name = row.address === null ? row.name : functionLink(row);
  return {
    cells: [
      deeper && row.address !== null ? withMenu(el("span", { className: "function" }, name, " ", deeperButton(row)), row) : name,
      sourceLink(row.file, row.line, row.call_site ?? ""),
      formatCount(row.calls),
      ...time(row.latency),
      offCpuKnown ? formatDuration(row.off_cpu.total) : l10n.t("unknown"),
      offCpuKnown ? formatPercent(row.cpu_percent) : l10n.t("unknown"),
    ],
  };
}

type RowFormat = (latency: Report["latency"]) => string[];

/** Returns a function that formats mean, p99 and total, which are unknown in a recording without timing. */
function timeFormat({ resolution_ns: resolution }: Report["recording"]): RowFormat {
  return (latency) => (["mean", "p99", "total"] as const).map((name) => (resolution === null ? l10n.t("unknown") : latencyFigure(latency, name)));
}
