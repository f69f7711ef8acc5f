// The messages between the extension and the panel's webview.
import { asRecord } from "../base/records";
import type { FunctionRef } from "../functions/function-selector";
import type {
  CallsResult,
  CallState,
  DiffResult,
  DistributionResult,
  ExplainResult,
  FlameResult,
  FunctionIdentity,
  FunctionSelector,
  FunctionSummary,
  FunctionsResult,
  Params,
  PartialReport,
  Recording,
  Report,
  Result,
  Selection,
  TimeKind,
  TimelineResult,
  WaitsResult,
} from "../protocol/protocol";

export type {
  CallsResult,
  CallState,
  DiffResult,
  DistributionResult,
  ExplainResult,
  FlameResult,
  FunctionIdentity,
  FunctionRef,
  FunctionSelector,
  FunctionSummary,
  FunctionsResult,
  PartialReport,
  Recording,
  Report,
  Selection,
  TimeKind,
  TimelineResult,
  WaitsResult,
};

/** The requests that the webview may make. The extension adds the recording, and the one that it is compared with. */
export const panelMethods = ["ptlens/report", "ptlens/calls", "ptlens/flame", "ptlens/distribution", "ptlens/explain", "ptlens/waits", "ptlens/timeline", "ptlens/diff"] as const;
export type PanelMethod = (typeof panelMethods)[number];
export type PanelParams<M extends PanelMethod> = Omit<Params<M>, "id" | "baseline">;
export type PanelResult<M extends PanelMethod> = Result<M>;

/** A request of the webview; `ask` is its number. */
export interface Ask<M extends PanelMethod = PanelMethod> {
  readonly type: "ask";
  readonly ask: number;
  /** About the recording that the shown one is compared with. */
  readonly ofBaseline?: boolean;
  readonly method: M;
  readonly params: PanelParams<M>;
}

/** The answer to the request `ask`: the result, or why there is none. */
export interface Answer {
  readonly type: "answer";
  readonly ask: number;
  readonly result?: unknown;
  readonly failure?: string;
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

/** A recording that the shown one is compared with. `made`: ms since 1970. */
export interface Baseline {
  readonly name: string;
  readonly path: string;
  readonly made: number;
}

export type ToPanel =
  /** `made`: when the recording was made, ms since 1970. */
  | { readonly type: "overview"; readonly functions: FunctionsResult; readonly made?: number }
  /** `selector`: names the function in requests; it may select several functions together. */
  | { readonly type: "function"; readonly report: Report; readonly selector: FunctionSelector; readonly slowCall?: SlowCall; readonly made?: number; readonly baseline?: Baseline }
  | { readonly type: "baseline"; readonly baseline?: Baseline }
  /** Whether the function was edited, or its program rebuilt, after the measurement. */
  | { readonly type: "edited"; readonly edited: boolean }
  /** Sent while a trace is decoded. */
  | { readonly type: "partial"; readonly report: PartialReport }
  | Answer
  | { readonly type: "goTo"; readonly section: PanelSection }
  /** `instead`: nothing else is left to show. */
  | { readonly type: "failed"; readonly text: string; readonly instead?: boolean };

export type FromPanel =
  | { readonly type: "ready" }
  | { readonly type: "overview" }
  /** `inlined`: also counts inlined executions of a function that has calls. */
  | { readonly type: "function"; readonly function: FunctionRef; readonly inlined?: boolean }
  | Ask
  | { readonly type: "chooseBaseline" }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "goDeeper"; readonly function: FunctionRef }
  | { readonly type: "measureAgain" }
  /** Stops decoding. */
  | { readonly type: "stop" }
  | { readonly type: "reveal"; readonly file: string; readonly line: number };

/** Sections of the panel that a link can name. */
export const panelSections = ["figures", "flame", "histogram", "callers", "children", "why", "calls", "timeline", "change"] as const;
export type PanelSection = (typeof panelSections)[number];

/** Returns the `view` in the argument of a command, if it names a section. */
export function panelSection(argument: unknown): PanelSection | undefined {
  const { view } = asRecord(argument);
  return panelSections.find((name) => name === view);
}
