// What the extension and the panel's webview say to each other.
import type { FunctionRef } from "../functions/function-selector";
import type {
  CallState,
  FlameResult,
  FunctionIdentity,
  FunctionSummary,
  FunctionsResult,
  PartialReport,
  Recording,
  Report,
  TimeKind,
} from "../protocol/protocol";

export type { FunctionRef, FlameResult, FunctionIdentity, FunctionSummary, FunctionsResult, PartialReport, Recording, Report, TimeKind };

/** What the flame graph starts from: all stacks, or the shown function's calls. */
export type FlameScope = "all" | "function";

export interface FlameView {
  readonly time: TimeKind;
  readonly scope: FlameScope;
}

/** One call of the function, ns. */
export interface CallRow {
  readonly tid: number;
  readonly start: number;
  readonly latency: number;
  readonly offCpu: number;
  readonly self: number;
  readonly state: CallState;
}

/** A call that took longer than it should, and the calls of the same function before it on its thread. */
export interface CaughtCall extends CallRow {
  readonly slowerThan: number;
  /** The last ones, in order. */
  readonly before: readonly CallRow[];
}

export type ToPanel =
  | { readonly type: "overview"; readonly functions: FunctionsResult }
  | { readonly type: "function"; readonly report: Report; readonly caught?: CaughtCall }
  /** While a trace is decoded. */
  | { readonly type: "partial"; readonly report: PartialReport }
  | { readonly type: "flame"; readonly view: FlameView; readonly flame: FlameResult }
  | { readonly type: "goTo"; readonly view: PanelView }
  | { readonly type: "failed"; readonly text: string };

export type FromPanel =
  | { readonly type: "ready" }
  | { readonly type: "overview" }
  /** `inlined`: also count what was inlined of a function that was called. */
  | { readonly type: "function"; readonly function: FunctionRef; readonly inlined?: boolean }
  | { readonly type: "flame"; readonly view: FlameView }
  | { readonly type: "reveal"; readonly file: string; readonly line: number };

/** A part of the panel that a link leads to. */
export const panelViews = ["figures", "flame", "histogram", "callers", "children"] as const;
export type PanelView = (typeof panelViews)[number];

/** The `view` of a command's argument, where it names one. */
export function panelView(argument: unknown): PanelView | undefined {
  const { view } = (typeof argument === "object" && argument !== null ? argument : {}) as { view?: unknown };
  return panelViews.find((name) => name === view);
}
