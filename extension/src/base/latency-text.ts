// The figures of latencies, each with its uncertainty, and how they were measured. The helper's latency_text.cpp follows
// the same rules.
import { backendName } from "./backend-name";
import * as l10n from "@vscode/l10n";
import type { FigureErrors, Latency, Recording } from "../protocol/protocol";
import { formatFigure, formatSlower } from "./units";

export type FigureName = keyof FigureErrors;

/** How far a figure may be off, ns, either way. */
export function errorOf(latency: Latency, name: FigureName): number {
  return latency.uncertainty?.[name] ?? (name === "total" ? 0 : latency.resolution);
}

export function latencyFigure(latency: Latency, name: FigureName): string {
  return formatFigure(latency[name], errorOf(latency, name));
}

/** "< 40 µs (below what probes resolve)", or the mean. */
export function explainedMean(latency: Latency): string {
  const mean = latencyFigure(latency, "mean");
  return latency.below_resolution?.mean === undefined ? mean : l10n.t("{0} (below what probes resolve)", mean);
}

/** "measured with probes: the program ran 1.04× slower"; undefined for Intel PT. */
export function probesText({ backend, slowdown }: Recording): string | undefined {
  if (backend === "intel_pt") return undefined;
  return l10n.t("measured with {0}: the program ran {1}", backendName(backend), formatSlower(slowdown));
}
