// The quality of a recording in words: how it was made, what is lost, and what else a reader must know.
import * as l10n from "@vscode/l10n";
import { backendName } from "../../extension/src/base/backend-name";
import { formatBytes } from "../../extension/src/base/units";
import type { Recording } from "../../extension/src/panel/panel-messages";
import { count, share, time } from "./format";

/** How much of the trace is lost, as a share of 1. */
export function lostShare({ lost_ns: lost, trace_ns: traced }: Recording): number {
  return traced === 0 ? 0 : lost / traced;
}

/** Returns a sentence for each thing that is missing. */
export function losses(recording: Recording): string[] {
  const sentences: string[] = [];
  if (recording.decode_errors > 0) sentences.push(l10n.t("Decode errors, where the trace does not match the code: {0}.", count(recording.decode_errors)));
  if (recording.lost_records > 0) sentences.push(l10n.t("Records dropped by perf: {0}.", count(recording.lost_records)));
  if (!recording.off_cpu_known && !recording.notes.some(({ code }) => code === "goroutines_off_cpu")) {
    sentences.push(l10n.t("Off-CPU time is unknown: the recording contains no context switches."));
  }
  if (recording.resolution_ns === null) sentences.push(l10n.t("Latencies are unknown: the recording contains no timing."));
  for (const { path, build_id: buildId, reason } of recording.missing) {
    sentences.push(`${path}${buildId === "" ? "" : ` (build-id ${buildId})`}: ${reason}`);
  }
  return sentences;
}

/** "38.0 ms (2.4 %) lost in one gap"; undefined without gaps. */
export function lossText(recording: Recording): string | undefined {
  if (recording.lost_ns === 0 && recording.gaps === 0) return undefined;
  const [lost, part] = [time(recording.lost_ns), share(lostShare(recording))];
  if (recording.gaps === 0) return l10n.t("{0} ({1}) lost", lost, part);
  return recording.gaps === 1 ? l10n.t("{0} ({1}) lost in one gap", lost, part) : l10n.t("{0} ({1}) lost in {2} gaps", lost, part, count(recording.gaps));
}

/** Above this share, a loss is pointed out before the answer. */
const boxed = 0.1;

/** "A quarter of the time is lost; slow calls may be missing." */
export function severeLoss(recording: Recording): string | undefined {
  const part = lostShare(recording);
  return part > boxed ? l10n.t("{0} of the time is lost; slow calls may be missing.", share(part)) : undefined;
}

/** "Intel PT", "± 8 ns", "1.61 s", "4 threads", "2.5 MiB". */
export function facts(recording: Recording): string[] {
  const resolution = recording.resolution_ns === null ? "" : `, ± ${time(recording.resolution_ns)}`;
  return [
    `${backendName(recording.backend)}${resolution}`,
    `${time(recording.trace_ns)}, ${recording.threads === 1 ? l10n.t("1 thread") : l10n.t("{0} threads", count(recording.threads))}`,
    ...(recording.trace_bytes === 0 ? [] : [formatBytes(recording.trace_bytes)]),
  ];
}

/** "today at 14:02", "18 Nov at 09:30". */
export function when(made: number, now: number): string {
  const [date, today] = [new Date(made), new Date(now)];
  const clock = `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
  const yesterday = new Date(now - 24 * 3600 * 1000);
  if (date.toDateString() === today.toDateString()) return l10n.t("today at {0}", clock);
  if (date.toDateString() === yesterday.toDateString()) return l10n.t("yesterday at {0}", clock);
  return l10n.t("{0} at {1}", date.toLocaleDateString("en-GB", { day: "numeric", month: "short" }), clock);
}
