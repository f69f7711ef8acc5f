// What must be known before any figure is believed: loss first, then what the backend costs and
// cannot see.
import type { Recording } from "../extension/src/panel-messages";
import { formatBytes, formatCount, formatDuration, formatPercent, percentOf } from "../extension/src/units";
import { el } from "./dom";

/** One sentence for each thing that is lost or missing. */
export function losses(recording: Recording): string[] {
  const said: string[] = [];
  if (recording.lost_ns > 0 || recording.gaps > 0) {
    const share = formatPercent(percentOf(recording.lost_ns, recording.trace_ns));
    said.push(
      `${formatCount(recording.gaps)} gaps: ${formatDuration(recording.lost_ns)} (${share}) of the trace is lost. ` +
        "Calls that span a gap are counted as incomplete.",
    );
  }
  if (recording.decode_errors > 0) {
    said.push(`${formatCount(recording.decode_errors)} places where the trace and the code contradict each other.`);
  }
  if (recording.lost_records > 0) said.push(`perf dropped ${formatCount(recording.lost_records)} records.`);
  if (!recording.off_cpu_known) said.push("No context switches were recorded: off-CPU time is unknown.");
  if (recording.resolution_ns === null) said.push("The recording has no timing: latencies are unknown.");
  for (const { path, build_id: buildId, reason } of recording.missing) {
    said.push(`${path}${buildId === "" ? "" : ` (build-id ${buildId})`}: ${reason}`);
  }
  return said;
}

export function lossView(recording: Recording): HTMLElement | undefined {
  const said = losses(recording);
  if (said.length === 0) return undefined;
  const items = said.map((text) => el("li", {}, text));
  return el("ul", { className: "losses", role: "status" }, ...items);
}

export function recordingView(recording: Recording): HTMLElement {
  const facts = [
    recording.backend,
    `${formatDuration(recording.trace_ns)} traced`,
    `${formatCount(recording.threads)} ${recording.threads === 1 ? "thread" : "threads"}`,
    recording.trace_bytes === 0 ? undefined : formatBytes(recording.trace_bytes),
    recording.resolution_ns === null ? undefined : `± ${formatDuration(recording.resolution_ns)}`,
  ].filter((fact) => fact !== undefined);
  const summary = el("summary", {}, facts.join(" · "));
  const notes = recording.notes.map((note) => el("li", {}, note));
  return el(
    "details",
    { className: "recording" },
    summary,
    notes.length === 0 ? undefined : el("ul", {}, ...notes),
    el("p", { className: "path" }, recording.path),
  );
}
