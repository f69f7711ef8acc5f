// The answer in the header as far as the report knows it: what is typical, and how long the tail is.
import * as l10n from "@vscode/l10n";
import type { Report } from "../../extension/src/panel/panel-messages";
import { count, time } from "../base/format";

/** With fewer calls, there is no p99 to explain. */
export const fewCalls = 100;

/** A tail this many times longer than the median is worth a question. */
const tailFactor = 2;

/** Whether the slowest hundredth of the calls takes much longer than the others. */
export function hasTail({ latency, calls }: Pick<Report, "latency" | "calls">): boolean {
  return calls.complete >= fewCalls && latency.p99 > tailFactor * latency.p50;
}

/** The answer without the reasons, which come a moment later. */
export function shortAnswer(report: Pick<Report, "latency" | "calls">): string {
  const { latency, calls } = report;
  if (calls.complete < fewCalls) {
    return calls.complete === 1 ? l10n.t("1 call: too few to say what is typical.") : l10n.t("{0} calls: too few to say what is typical.", count(calls.complete));
  }
  if (!hasTail(report)) return l10n.t("Typically {0}, and steady: 1 call in 100 takes over {1}.", time(latency.p50), time(latency.p99));
  return l10n.t("Typically {0}; 1 call in 100 takes over {1}.", time(latency.p50), time(latency.p99));
}
