// The stored state of a recording, from one window to the next: its path, its contents and how it was made. Without
// the vscode module.
import { asRecord } from "../base/records";
import type { FunctionSelector, Params, Recording, RecordParams } from "../protocol/protocol";

/** Parameters with which a recording is opened, besides its path. */
export type OpenedWith = Pick<Params<"ptlens/open">, "symfs" | "kallsyms" | "kcore" | "pid">;

/** Parameters that repeat the measurement. */
export type MeasuredWith = Omit<RecordParams, "workDoneToken" | "output">;

/** Figures of a recording that has been open once, as in Recording. */
export type Figures = Pick<
  Recording,
  "backend" | "trace_ns" | "lost_ns" | "lost_records" | "gaps" | "decode_errors" | "threads"
> & {
  /** Number of binaries without code; absent in entries of earlier versions. */
  readonly without_code?: number;
};

export interface RecordingEntry {
  /** Stays the same, unlike the helper's id of an open recording. */
  readonly key: string;
  readonly path: string;
  /** Name in the list; the user can change it. */
  readonly name: string;
  /** Functions that it was made for; empty if for all. */
  readonly functions: readonly FunctionSelector[];
  /** Name of the process or program, empty if unknown. */
  readonly target: string;
  /** Time when it was made, ms since 1970. */
  readonly when: number;
  readonly figures: Figures;
  readonly openedWith: OpenedWith;
  /** Absent if it was not measured here. */
  readonly measuredWith?: MeasuredWith;
}

/** Properties of a recording that the code that made or opened it knows. */
export interface RecordingFacts {
  readonly name?: string;
  readonly functions?: readonly FunctionSelector[];
  readonly target?: string;
  readonly when?: number;
  readonly openedWith?: OpenedWith;
  readonly measuredWith?: MeasuredWith;
}

export function figuresOf(recording: Recording): Figures {
  const { backend, trace_ns, lost_ns, lost_records, gaps, decode_errors, threads, missing } = recording;
  return { backend, trace_ns, lost_ns, lost_records, gaps, decode_errors, threads, ...(missing.length > 0 ? { without_code: missing.length } : {}) };
}

/** Returns the name without its parameters. */
export function shortName(name: string): string {
  return name.replace(/\([^()]*\)( const)?$/, "");
}

/** Returns a name made of the functions, else the target, else the last component of the path. */
export function defaultName(path: string, facts: RecordingFacts): string {
  const functions = (facts.functions ?? []).map(({ name }) => shortName(name));
  const parts = path.split("/").filter((part) => part !== "");
  const last = parts.at(-1) ?? path;
  const file = last === "perf.data" ? (parts.at(-2) ?? last) : last;
  if (functions.length === 0) return facts.target !== undefined && facts.target !== "" ? facts.target : file;
  const [first = "", ...others] = functions;
  return others.length === 0 ? first : `${first} + ${String(others.length)}`;
}

export function isLossy({ lost_ns, lost_records, decode_errors, without_code = 0 }: Figures): boolean {
  return lost_ns > 0 || lost_records > 0 || decode_errors > 0 || without_code > 0;
}

/** Returns the entry of an object that has more fields. */
export function entryOf(item: RecordingEntry): RecordingEntry {
  const { key, path, name, functions, target, when, figures, openedWith, measuredWith } = item;
  const entry = { key, path, name, functions, target, when, figures, openedWith };
  return measuredWith === undefined ? entry : { ...entry, measuredWith };
}

/** The stored state of a window. */
export interface SessionState {
  readonly recordings: readonly RecordingEntry[];
  readonly active: string | undefined;
  readonly baseline: string | undefined;
}

export function stateToJson(state: SessionState): unknown {
  return { version: 1, ...state };
}

/** Reads stored state of any version. Skips entries that it does not understand. */
export function stateFromJson(value: unknown): SessionState {
  const stored = asRecord(value);
  const recordings = Array.isArray(stored.recordings) ? stored.recordings.flatMap(entryFromJson) : [];
  const known = (key: unknown): string | undefined => recordings.find((entry) => entry.key === key)?.key;
  const active = known(stored.active);
  const baseline = known(stored.baseline);
  return { recordings, active, baseline: baseline === active ? undefined : baseline };
}

function entryFromJson(value: unknown): RecordingEntry[] {
  const stored = asRecord(value);
  const { key, path, name, target, when } = stored;
  const figures = figuresFromJson(stored.figures);
  if (typeof key !== "string" || typeof path !== "string" || path === "" || figures === undefined) return [];
  const measuredWith = stored.measuredWith;
  return [
    {
      key,
      path,
      name: typeof name === "string" && name !== "" ? name : defaultName(path, {}),
      functions: Array.isArray(stored.functions) ? stored.functions.flatMap(selectorFromJson) : [],
      target: typeof target === "string" ? target : "",
      when: typeof when === "number" ? when : 0,
      figures,
      openedWith: openedWithOf(stored.openedWith),
      // The helper checks its fields when it is used.
      ...(typeof measuredWith === "object" && measuredWith !== null ? { measuredWith } : {}),
    },
  ];
}

function figuresFromJson(value: unknown): Figures | undefined {
  const stored = asRecord(value);
  const { backend } = stored;
  if (backend !== "intel_pt" && backend !== "uftrace" && backend !== "uprobe") return undefined;
  const number = (name: string): number => (typeof stored[name] === "number" ? stored[name] : 0);
  return {
    backend,
    trace_ns: number("trace_ns"),
    lost_ns: number("lost_ns"),
    lost_records: number("lost_records"),
    gaps: number("gaps"),
    decode_errors: number("decode_errors"),
    threads: number("threads"),
    ...(number("without_code") > 0 ? { without_code: number("without_code") } : {}),
  };
}

function selectorFromJson(value: unknown): FunctionSelector[] {
  const { name, binary, address, all, build_id, linkage_name, file, line } = asRecord(value);
  if (typeof name !== "string" || name === "") return [];
  const texts = Object.entries({ binary, address, build_id, linkage_name, file }).filter(([, text]) => typeof text === "string");
  return [{ name, ...Object.fromEntries(texts), ...(typeof line === "number" ? { line } : {}), ...(typeof all === "boolean" ? { all } : {}) }];
}

/** Reads the fields that are present and have the right type. */
export function openedWithOf(value: unknown): OpenedWith {
  const stored = asRecord(value);
  const options: OpenedWith = {};
  for (const name of ["symfs", "kallsyms", "kcore"] as const) {
    const text = stored[name];
    if (typeof text === "string" && text !== "") options[name] = text;
  }
  if (typeof stored.pid === "number") options.pid = stored.pid;
  return options;
}
