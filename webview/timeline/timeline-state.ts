// What the tab Timeline shows: one call, and the call that it is compared with.
import { computed } from "@preact/signals";
import { answersTo } from "../state/answers";
import { distribution } from "../state/figures";
import { isSameCall, keptCall, picked, type CallName } from "../state/one-call";
import { isSelected, shownFunction, subject, tab } from "../state/store";

/** The slowest of the selected calls, in this order. */
export const slowest = computed((): CallName[] => {
  const data = distribution.value.value;
  if (data === undefined) return [];
  const { tid, start, selected } = data.slowest;
  return tid.map((each, index) => ({ tid: each, start: start[index] ?? 0 })).filter((_, index) => !isSelected.value || selected[index] === true);
});

/** The call in sight: the one that the user opened, or else the slowest. */
export const shownCall = computed(() => picked.value ?? slowest.value[0]);

/** Its place among the slowest; -1: it is not one of them. */
export const rank = computed(() => slowest.value.findIndex((each) => isSameCall(each, shownCall.value)));

const paramsFor = (call: CallName | undefined) => {
  const { value } = shownFunction;
  return value === undefined || call === undefined || tab.value !== "timeline" ? undefined : { function: value.selector, tid: call.tid, start: call.start, parting: false };
};

export const timeline = answersTo("ptlens/timeline", computed(() => paramsFor(shownCall.value)), subject);

/** The same call with the branch at which it and its twin part: its trace is decoded again for that, which takes a moment. */
const parted = answersTo(
  "ptlens/timeline",
  computed(() => {
    const params = paramsFor(shownCall.value);
    const { value: known } = timeline.value;
    if (params === undefined || known?.recording.backend !== "intel_pt" || known.timeline.twin === null) return undefined;
    return isSameCall(known.timeline, params) ? { ...params, parting: true } : undefined;
  }),
  subject,
);

/** Where the shown call and its twin part, once it is known. */
export const parting = computed(() => {
  const known = parted.value.value?.timeline;
  return known !== undefined && isSameCall(known, shownCall.value) ? (known.twin?.parting ?? null) : null;
});

/** Whether the kept call is compared, not the nearest typical one. */
export const againstKept = computed(() => keptCall.value !== undefined && !isSameCall(keptCall.value, shownCall.value));

/** The call that the shown one is compared with; it is known once the shown one is. */
export const comparedCall = computed((): CallName | undefined => {
  if (againstKept.value) return keptCall.value;
  const shown = timeline.value.value?.timeline;
  const twin = shown !== undefined && isSameCall(shown, shownCall.value) ? shown.twin : null;
  return twin === null ? undefined : { tid: twin.tid, start: twin.start };
});

export const comparedTimeline = answersTo("ptlens/timeline", computed(() => paramsFor(comparedCall.value)), subject);

export const timelineCommand = computed(() => timeline.value.value?.command);
