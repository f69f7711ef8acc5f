// Filters and sorts the functions of a recording. Without the vscode module.
import type { FunctionSummary, Latency } from "../protocol/protocol";
import { functionKey } from "./function-selector";

export const orders = ["total", "mean", "p99", "calls", "name"] as const;
export type Order = (typeof orders)[number];

/** Returns the functions that match the filter, largest first, names from A. `p99` maps functionKey to the latency if known. */
export function ordered(
  functions: readonly FunctionSummary[],
  order: Order,
  filter: string,
  p99: ReadonlyMap<string, Pick<Latency, "p99">>,
): FunctionSummary[] {
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = functions.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const figure = (row: FunctionSummary): number => {
    switch (order) {
      case "total":
        return row.inclusive;
      case "mean":
        return row.mean;
      case "calls":
        return row.complete;
      case "p99":
        return p99.get(functionKey(row))?.p99 ?? -1;
      case "name":
        return 0;
    }
  };
  return found.sort((a, b) => figure(b) - figure(a) || a.name.localeCompare(b.name));
}
