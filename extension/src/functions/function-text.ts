// The figures of a function in one line, as the side bar shows them. Each is written as in the code lens.
import * as l10n from "@vscode/l10n";
import { formatBriefFigure, formatCalls, formatCount } from "../base/units";
import { errorOf } from "../base/latency-text";
import type { FunctionSummary, Latency, Recording } from "../protocol/protocol";
import type { Order } from "./function-order";

/** Returns "total 1.20 ms · mean < 3.20 µs · 12 calls"; the figure that the list is sorted by comes first. */
export function functionFigures(row: FunctionSummary, recording: Pick<Recording, "resolution_ns">, order: Order, p99: Latency | undefined): string {
  const calls = formatCalls(row.complete);
  const incomplete = row.incomplete > 0 ? [l10n.t("{0} incomplete", formatCount(row.incomplete))] : [];
  const { resolution_ns: resolution } = recording;
  if (resolution === null) return [calls, l10n.t("no timing"), ...incomplete].join(" · ");
  const mean = row.complete > 0 ? [l10n.t("mean {0}", formatBriefFigure(row.mean, row.uncertainty?.mean ?? resolution))] : [];
  const tail = p99 === undefined || row.complete === 0 ? [] : [l10n.t("p99 {0}", formatBriefFigure(p99.p99, errorOf(p99, "p99")))];
  const total = l10n.t("total {0}", formatBriefFigure(row.inclusive, row.uncertainty?.inclusive ?? 0));
  const figures: Record<Order, string[]> = {
    total: [total, ...mean, ...tail, calls],
    mean: [...mean, ...tail, total, calls],
    p99: [...tail, ...mean, total, calls],
    calls: [calls, ...mean, ...tail, total],
    name: [...mean, ...tail, total, calls],
  };
  return [...figures[order], ...incomplete].join(" · ");
}
