// What the extension and the panel's webview say to each other.
import type {
  FlameResult,
  FunctionIdentity,
  FunctionSummary,
  FunctionsResult,
  Recording,
  Report,
  TimeKind,
} from "./protocol";

export type { FlameResult, FunctionIdentity, FunctionSummary, FunctionsResult, Recording, Report, TimeKind };

/** A function in the terms of any result of the helper. */
export interface FunctionRef {
  readonly name: string;
  readonly binary: string;
  readonly address: string | null;
}

/** What the flame graph starts from: all stacks, or the shown function's calls. */
export type FlameScope = "all" | "function";

export interface FlameView {
  readonly time: TimeKind;
  readonly scope: FlameScope;
}

export type ToPanel =
  | { readonly type: "overview"; readonly functions: FunctionsResult }
  | { readonly type: "function"; readonly report: Report }
  | { readonly type: "flame"; readonly view: FlameView; readonly flame: FlameResult }
  | { readonly type: "failed"; readonly text: string };

export type FromPanel =
  | { readonly type: "ready" }
  | { readonly type: "overview" }
  /** `inlined`: also count what was inlined of a function that was called. */
  | { readonly type: "function"; readonly function: FunctionRef; readonly inlined?: boolean }
  | { readonly type: "flame"; readonly view: FlameView }
  | { readonly type: "reveal"; readonly file: string; readonly line: number };
