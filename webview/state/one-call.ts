// One call as the selection.
import { distribution } from "./figures";
import { select, tab } from "./store";

/** Selects one call and shows its flame graph. `start`: perf's clock, ns. */
export function showCall({ tid, start }: { readonly tid: number; readonly start: number }): void {
  const origin = distribution.value.value?.trace_start;
  if (origin === undefined) return;
  select({ tids: [tid], time: [start - origin, start - origin] });
  tab.value = "flame";
}
