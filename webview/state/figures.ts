// The helper's answers that the views share.
import { computed, signal } from "@preact/signals";
import type { FunctionSelector } from "../../extension/src/panel/panel-messages";
import { fewCalls } from "./answer-text";
import { answersTo } from "./answers";
import { flameOptions, isSelected, selection, shown, shownFunction, subject, tab } from "./store";

/** More bins would be narrower than can be drawn. */
const bins = 60;
/** Calls that the scatter chart draws one by one; the others as a grid. */
const points = 3000;

const called = computed(() => {
  const { value } = shownFunction;
  return value === undefined || value.report.not_called === true || value.report.called === false ? undefined : value.selector;
});

/** The condition of a request; nothing where every call is meant. */
const chosen = computed(() => (isSelected.value ? { selection: selection.value } : {}));

/** How the latencies of all calls and of the selected ones are distributed. */
export const distribution = answersTo(
  "ptlens/distribution",
  computed(() => (called.value === undefined ? undefined : { function: called.value, ...chosen.value, bins, points, columns: 160 })),
  subject,
);

/** The report of the selected calls. */
export const selectedReport = answersTo(
  "ptlens/report",
  computed(() => (called.value === undefined || !isSelected.value ? undefined : { function: called.value, selection: selection.value })),
  subject,
);

/** Why the slowest calls of all are slow: the sentence in the header. */
export const answer = answersTo(
  "ptlens/explain",
  computed(() => {
    const { value } = shownFunction;
    return called.value === undefined || value === undefined || value.report.calls.complete < fewCalls ? undefined : { function: called.value };
  }),
  subject,
);

/** Frames narrower than this share of the one in focus are put together. */
export const smallestFrame = 0.002;
/** Stacks of a smaller share can be large once the page has merged them with others. */
const smallestMerged = 0.0005;

interface FlameDetail {
  /** The share of the whole graph that the frame in focus has. */
  readonly part: number;
  /** The functions of the frame in focus and of its callers. */
  readonly focus: FunctionSelector[];
}

export const wholeFlame: FlameDetail = { part: 1, focus: [] };
export const flameDetail = signal(wholeFlame);

/** What the flame graph asks for; undefined while it is not in sight. */
export const flameParams = computed(() => {
  const { kind } = shown.value;
  if (kind === "nothing" || (kind === "function" && tab.value !== "flame")) return undefined;
  const { time, scope, mergeRecursion } = flameOptions.value;
  const recording = shown.value.kind === "function" ? shown.value.report.recording : shown.value.functions.recording;
  // A narrower part of the graph has room for smaller frames: below the frame in focus, `smallest` is a share of its time.
  const { part, focus } = flameDetail.value;
  const detail = scope === "callers" || mergeRecursion ? { smallest: Math.max(1e-7, smallestMerged * part), focus: [] } : { smallest: smallestFrame, focus };
  const common = { time_kind: time, ...detail, ...(recording.off_cpu_known ? { waits: true } : {}) };
  return kind === "function" && called.value !== undefined && scope === "function" ? { ...common, function: called.value, ...chosen.value } : common;
});

export const flame = answersTo("ptlens/flame", flameParams, subject);
