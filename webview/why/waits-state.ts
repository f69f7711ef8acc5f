// What the slow calls waited for.
import { computed, effect, signal } from "@preact/signals";
import type { Waits } from "../../extension/src/panel/panel-messages";
import { askWaits } from "../base/host";
import { selectedReport } from "../state/figures";
import { isSelected, shownFunction, tab } from "../state/store";
import { explanation } from "./why-state";

/** Recording, function and selection of the slow calls, as on the command line. */
const wanted = computed((): readonly string[] | undefined => {
  const { value } = shownFunction;
  const explained = explanation.value.value?.explain;
  if (value === undefined || explained === undefined || tab.value !== "why" || !value.report.recording.off_cpu_known) return undefined;
  const command = isSelected.value ? selectedReport.value.value?.command : value.report.command;
  if (command === undefined || (isSelected.value && selectedReport.value.loading)) return undefined;
  return [...command.slice(2), ...(isSelected.value ? [] : ["--latency", `${String(Math.floor(explained.slow.low))},`])];
});

export const waits = signal<Waits | undefined>(undefined);
let latest = "";

effect(() => {
  const args = wanted.value;
  if (args === undefined) return;
  const key = JSON.stringify(args);
  if (key === latest) return;
  latest = key;
  waits.value = undefined;
  askWaits(args).then(
    (found) => {
      if (latest === key) waits.value = found;
    },
    () => {
      // The figures above stand without it.
      if (latest === key) latest = "";
    },
  );
});
