// What changed since the baseline: the judgements of the helper, and both distributions of latency.
import { computed, effect, signal } from "@preact/signals";
import type { DiffResult, DistributionResult } from "../../extension/src/panel/panel-messages";
import { ask, askBaseline } from "../base/host";
import { baseName } from "../base/names";
import { baseline, shownFunction, subject, tab } from "../state/store";

interface Compared {
  readonly changes: DiffResult | undefined;
  readonly before: DistributionResult | undefined;
  readonly failure: string | undefined;
}

const none: Compared = { changes: undefined, before: undefined, failure: undefined };
export const compared = signal<Compared>(none);
export const changeCommand = computed(() => compared.value.changes?.command);

let latest = "";

effect(() => {
  const { value } = shownFunction;
  if (value === undefined || baseline.value === undefined || tab.value !== "change") return;
  const key = `${subject.value} ${baseline.value.path}`;
  if (key === latest) return;
  latest = key;
  compared.value = none;
  const keep = (part: Partial<Compared>): void => {
    if (key === latest) compared.value = { ...compared.value, ...part };
  };
  const failed = (error: unknown): void => {
    keep({ failure: error instanceof Error ? error.message : String(error) });
    if (key === latest) latest = "";
  };
  ask("ptlens/diff", {}).then((changes) => { keep({ changes }); }, failed);
  // In another build, the function is at another address.
  const { name, binary } = value.report.function;
  const known = { name, ...(binary === "" ? {} : { binary: baseName(binary) }) };
  askBaseline("ptlens/distribution", { function: known, bins: 60, points: 1, columns: 1 }).then(
    (before) => { keep({ before }); },
    () => {
      // The verdicts do not need the chart.
    },
  );
});
