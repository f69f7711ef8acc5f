// The explanation of the selected calls, or of the slowest without a selection.
import { computed } from "@preact/signals";
import { answersTo } from "../state/answers";
import { againstRest, isSelected, selection, shownFunction, subject, tab } from "../state/store";

export const explanation = answersTo(
  "ptlens/explain",
  computed(() => {
    const { value } = shownFunction;
    if (value === undefined || tab.value !== "why") return undefined;
    return {
      function: value.selector,
      ...(isSelected.value ? { selection: selection.value } : {}),
      ...(againstRest.value ? { typical: "others" } : {}),
    };
  }),
  subject,
);

export const whyCommand = computed(() => explanation.value.value?.command);
