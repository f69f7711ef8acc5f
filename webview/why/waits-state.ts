// What the slow calls waited for.
import { computed } from "@preact/signals";
import { answersTo } from "../state/answers";
import { isSelected, selection, shownFunction, subject, tab } from "../state/store";
import { explanation } from "./why-state";

/** The waits of the selected calls; of the slow ones without a selection. */
const answered = answersTo(
  "ptlens/waits",
  computed(() => {
    const { value } = shownFunction;
    const explained = explanation.value.value?.explain;
    if (value === undefined || explained === undefined || tab.value !== "why" || !value.report.recording.off_cpu_known) return undefined;
    const slow = { latency: [Math.floor(explained.slow.low), null] as [number, null] };
    return { function: value.selector, selection: isSelected.value ? selection.value : slow };
  }),
  subject,
);

export const waits = computed(() => answered.value.value?.waits);
