// What must be known before any figure is believed: loss first, then what the backend costs and
// cannot see.
import * as l10n from "@vscode/l10n";
import type { Recording } from "../../extension/src/panel/panel-messages";
import { backendName } from "../../extension/src/base/backend-name";
import { formatBytes, formatCount, formatDuration, formatPercent, percentOf } from "../../extension/src/base/units";
import { el } from "../base/dom";

/** One sentence for each thing that is lost or missing. */
export function losses(recording: Recording): string[] {
  const said: string[] = [];
  if (recording.lost_ns > 0 || recording.gaps > 0) {
    const share = formatPercent(percentOf(recording.lost_ns, recording.trace_ns));
    said.push(
      l10n.t(
        "Gaps: {0}; {1} ({2}) of the trace is lost. Calls that span a gap are counted as incomplete.",
        formatCount(recording.gaps),
        formatDuration(recording.lost_ns),
        share,
      ),
    );
  }
  if (recording.decode_errors > 0) {
    said.push(l10n.t("Places where the trace and the code contradict each other: {0}.", formatCount(recording.decode_errors)));
  }
  if (recording.lost_records > 0) said.push(l10n.t("Records that perf dropped: {0}.", formatCount(recording.lost_records)));
  if (!recording.off_cpu_known) said.push(l10n.t("No context switches were recorded: off-CPU time is unknown."));
  if (recording.resolution_ns === null) said.push(l10n.t("The recording has no timing: latencies are unknown."));
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
    backendName(recording.backend),
    l10n.t("{0} traced", formatDuration(recording.trace_ns)),
    recording.threads === 1 ? l10n.t("1 thread") : l10n.t("{0} threads", formatCount(recording.threads)),
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
