// The quality of a recording: losses first, then the overhead and the limits of the backend.
import * as l10n from "@vscode/l10n";
import { backendName } from "../../extension/src/base/backend-name";
import { probesText } from "../../extension/src/base/latency-text";
import { formatBytes, formatCount, formatDuration, formatPercent, percentOf } from "../../extension/src/base/units";
import type { Recording } from "../../extension/src/panel/panel-messages";
import { el } from "../base/dom";

/** Returns a sentence for each loss. */
export function losses(recording: Recording): string[] {
  const sentences: string[] = [];
  if (recording.lost_ns > 0 || recording.gaps > 0) {
    const share = formatPercent(percentOf(recording.lost_ns, recording.trace_ns));
    sentences.push(
      l10n.t(
        "Gaps in the trace: {0}. {1} ({2}) of the trace is lost. Calls across a gap count as incomplete.",
        formatCount(recording.gaps),
        formatDuration(recording.lost_ns),
        share,
      ),
    );
  }
  if (recording.decode_errors > 0) {
    sentences.push(l10n.t("Decode errors, where the trace does not match the code: {0}.", formatCount(recording.decode_errors)));
  }
  if (recording.lost_records > 0) sentences.push(l10n.t("Records dropped by perf: {0}.", formatCount(recording.lost_records)));
  if (!recording.off_cpu_known && !recording.notes.some(({ code }) => code === "goroutines_off_cpu")) sentences.push(l10n.t("Off-CPU time is unknown: the recording contains no context switches."));
  if (recording.resolution_ns === null) sentences.push(l10n.t("Latencies are unknown: the recording contains no timing."));
  for (const { path, build_id: buildId, reason } of recording.missing) {
    sentences.push(`${path}${buildId === "" ? "" : ` (build-id ${buildId})`}: ${reason}`);
  }
  return sentences;
}

export function lossView(recording: Recording): HTMLElement | undefined {
  const sentences = losses(recording);
  if (sentences.length === 0) return undefined;
  const items = sentences.map((text) => el("li", {}, text));
  return el("ul", { className: "losses", role: "status" }, ...items);
}

/** Shows how much slower probes made the program. */
export function methodView(recording: Recording): HTMLElement | undefined {
  const text = probesText(recording);
  return text === undefined ? undefined : el("p", { className: "method" }, text);
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
  const notes = recording.notes.map(({ text }) => el("li", {}, text));
  return el(
    "details",
    { className: "recording" },
    summary,
    notes.length === 0 ? undefined : el("ul", {}, ...notes),
    el("p", { className: "path" }, recording.path),
  );
}
