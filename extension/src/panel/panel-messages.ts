// The messages between the extension and the panel's webview.
import { asRecord } from "../base/records";
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

export type { FlameResult, FunctionIdentity, FunctionRef, FunctionSummary, FunctionsResult, PartialReport, Recording, Report, TimeKind };

/** The root of the flame graph: all stacks, or the calls of the shown function. */
export type FlameScope = "all" | "function";

export interface FlameView {
  readonly time: TimeKind;
  readonly scope: FlameScope;
}

/** One call of the function; times in ns. */
export interface CallRow {
  readonly tid: number;
  readonly start: number;
  /** null: the end of the call was not seen. */
  readonly latency: number | null;
  /** How far the latency may be off, either way. */
  readonly within: number;
  /** The least and the most that a call without latency can have taken. */
  readonly bounds?: readonly (number | null)[];
  readonly offCpu: number;
  /** null: not all that it called was measured. */
  readonly self: number | null;
  readonly state: CallState;
}

/** A call that took longer than a threshold. */
export interface SlowCall extends CallRow {
  /** ns */
  readonly threshold: number;
  /** The last calls of the same function before it on its thread, in order. */
  readonly before: readonly CallRow[];
}

export type ToPanel =
  | { readonly type: "overview"; readonly functions: FunctionsResult }
  | { readonly type: "function"; readonly report: Report; readonly slowCall?: SlowCall }
  /** Sent while a trace is decoded. */
  | { readonly type: "partial"; readonly report: PartialReport }
  | { readonly type: "flame"; readonly view: FlameView; readonly flame: FlameResult }
  | { readonly type: "goTo"; readonly section: PanelSection }
  /** `instead`: nothing else is left to show. */
  | { readonly type: "failed"; readonly text: string; readonly instead?: boolean };

export type FromPanel =
  | { readonly type: "ready" }
  | { readonly type: "overview" }
  /** `inlined`: also counts inlined executions of a function that has calls. */
  | { readonly type: "function"; readonly function: FunctionRef; readonly inlined?: boolean }
  | { readonly type: "flame"; readonly view: FlameView }
  | { readonly type: "goDeeper"; readonly function: FunctionRef }
  | { readonly type: "measureAgain" }
  | { readonly type: "reveal"; readonly file: string; readonly line: number };

/** Sections of the panel that a link can name. */
export const panelSections = ["figures", "flame", "histogram", "callers", "children", "why", "calls", "change"] as const;
export type PanelSection = (typeof panelSections)[number];

/** Returns the `view` in the argument of a command, if it names a section. */
export function panelSection(argument: unknown): PanelSection | undefined {
  const { view } = asRecord(argument);
  return panelSections.find((name) => name === view);
}
