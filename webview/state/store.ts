// The state of the panel: what is shown, the selection, the tab. It survives a reload of the page.
import { batch, computed, effect, signal } from "@preact/signals";
import type { Baseline, FunctionSelector, FunctionsResult, PartialReport, Report, Selection, SlowCall, TimeKind } from "../../extension/src/panel/panel-messages";
import { keep, kept } from "../base/host";
import { changed, isEverything, undone, type History } from "./selection";

export interface ShownFunction {
  readonly kind: "function";
  readonly report: Report;
  readonly selector: FunctionSelector;
  readonly slowCall: SlowCall | undefined;
  /** When the recording was made, ms since 1970. */
  readonly made: number | undefined;
}

export interface ShownFunctions {
  readonly kind: "functions";
  readonly functions: FunctionsResult;
  readonly made: number | undefined;
}

export type Shown = { readonly kind: "nothing" } | ShownFunctions | ShownFunction;

export type TabName = "overview" | "flame" | "why" | "calls" | "timeline" | "change";

/** What the flame graph shows: all stacks, the selected calls of the function, or who calls it. */
export type FlameScope = "all" | "function" | "callers";

/** How the flame graph is drawn. */
export interface FlameOptions {
  readonly time: TimeKind;
  readonly scope: FlameScope;
  readonly mergeRecursion: boolean;
}

/** What the shown recording is compared with. */
export const baseline = signal<Baseline | undefined>(undefined);
export const shown = signal<Shown>({ kind: "nothing" });
/** The report so far while a trace is decoded. */
export const partial = signal<PartialReport | undefined>(undefined);
/** Whether the function was edited, or its program rebuilt, after the measurement. */
export const edited = signal(false);
export const failure = signal<string | undefined>(undefined);
export const tab = signal<TabName>("overview");
export const flameOptions = signal<FlameOptions>({ time: "wall", scope: "function", mergeRecursion: false });
/** Compares slow calls with all others, not with the typical ones. */
export const againstRest = signal(false);
export const logCount = signal(true);
export const history = signal<History>({ present: {}, past: [] });
/** Changes when the colors do. */
export const theme = signal(0);

export const selection = computed(() => history.value.present);
export const isSelected = computed(() => !isEverything(selection.value));
export const shownFunction = computed(() => (shown.value.kind === "function" ? shown.value : undefined));

/** What the answers of the helper are about. */
export const subject = computed(() => {
  const { value } = shown;
  if (value.kind === "nothing") return "";
  if (value.kind === "functions") return value.functions.recording.id;
  return `${value.report.recording.id} ${JSON.stringify(value.selector)}`;
});

/** As `subject`, but the same after the helper was started again. */
const lasting = computed(() => (shown.value.kind === "function" ? `${shown.value.report.recording.path} ${JSON.stringify(shown.value.selector)}` : ""));

export function select(present: Selection): void {
  history.value = changed(history.value, present);
}

export function undo(): void {
  history.value = undone(history.value);
}

export function threadName(tid: number): string {
  return shownFunction.value?.report.recording.thread_list.find((thread) => thread.tid === tid)?.comm ?? String(tid);
}

interface Kept {
  readonly subject: string;
  readonly history: History;
  readonly tab: TabName;
  readonly flame: FlameOptions;
  readonly logCount: boolean;
}

/** Shows all functions, or a function with the selection and the tab that were kept for it. */
export function show(next: Shown): void {
  batch(() => {
    failure.value = undefined;
    edited.value = false;
    partial.value = undefined;
    const before = lasting.peek();
    shown.value = next;
    if (lasting.peek() === before && next.kind === "function") return;
    const state = kept() as Partial<Kept> | undefined;
    const isSame = state?.subject === lasting.peek();
    history.value = isSame && state.history !== undefined ? state.history : { present: {}, past: [] };
    if (isSame && state.tab !== undefined) tab.value = state.tab;
    else if (tab.peek() !== "flame") tab.value = "overview";
    if (state?.flame !== undefined) flameOptions.value = state.flame;
    if (state?.logCount !== undefined) logCount.value = state.logCount;
    againstRest.value = false;
  });
}

effect(() => {
  const state: Kept = { subject: lasting.value, history: history.value, tab: tab.value, flame: flameOptions.value, logCount: logCount.value };
  if (shown.value.kind === "function") keep(state);
});
