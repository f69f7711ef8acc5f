// Which functions of a recording are listed, and in which order. Pure: no VS Code in it.
import { functionKey } from "./function-selector";
import type { FunctionSummary } from "../protocol/protocol";

export const orders = ["total", "mean", "p99", "calls", "name"] as const;
export type Order = (typeof orders)[number];

/** Most first, names from A on; `p99` in ns by functionKey, where it is known. */
export function ordered(
  functions: readonly FunctionSummary[],
  order: Order,
  filter: string,
  p99: ReadonlyMap<string, number>,
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
        return p99.get(functionKey(row)) ?? -1;
      case "name":
        return 0;
    }
  };
  return found.sort((a, b) => figure(b) - figure(a) || a.name.localeCompare(b.name));
}
