// Bins of latency under probes. Below what probes resolve, a latency is only known to be small: those calls are one bin.
import type { DistributionResult, Report } from "../../extension/src/panel/panel-messages";

type Bin = DistributionResult["bins"][number];

export interface Resolved {
  readonly bins: readonly Bin[];
  /** The first of the bins, if it is of calls that probes do not resolve. */
  readonly below: Bin | undefined;
  /** How many bins it replaces. */
  readonly merged: number;
  /** Of an axis of latency, ns. */
  readonly least: number;
  readonly most: number;
}

type Sums = Pick<Bin, "calls" | "time" | "on_cpu" | "blocked" | "preempted">;

const names = ["calls", "time", "on_cpu", "blocked", "preempted"] as const;
const sumOf = (parts: readonly Sums[]): Sums => {
  const sum = { calls: 0, time: 0, on_cpu: 0, blocked: 0, preempted: 0 };
  for (const part of parts) for (const name of names) sum[name] += part[name];
  return sum;
};

/** The bin of the calls that are not resolved is this many times its width on a logarithmic axis. */
const span = 2.5;

/** Returns the limit below which a latency is only known to be small; 0 without probes. */
export function resolutionOf({ latency, raw }: Pick<Report, "latency" | "raw">): number {
  return raw === undefined ? 0 : latency.resolution;
}

/** Puts the bins below the resolution together. */
export function resolvedBins(bins: readonly Bin[], resolution: number): Resolved {
  const merged = bins.filter(({ low }) => low < resolution).length;
  const small = bins.slice(0, merged);
  const most = bins.at(-1)?.high ?? 10;
  if (small.every(({ calls }) => calls === 0)) return { bins, below: undefined, merged: 0, least: bins[0]?.low ?? 1, most };
  const high = Math.max(small.at(-1)?.high ?? 1, 1);
  const low = high / span;
  const below: Bin = { ...sumOf(small), low, high, selected: sumOf(small.map(({ selected }) => selected)) };
  return { bins: [below, ...bins.slice(merged)], below, merged, least: low, most: Math.max(most, high * span) };
}
