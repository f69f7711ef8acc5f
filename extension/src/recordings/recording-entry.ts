// What is remembered of a recording from one window to the next: where it is, what it holds, how it
// was made. Pure: no VS Code in it.
import { asRecord } from "../base/records";
import type { FunctionSelector, Params, Recording, RecordParams } from "../protocol/protocol";

/** How a recording is opened, beside its path. */
export type OpenedWith = Pick<Params<"ptlens/open">, "symfs" | "kallsyms" | "kcore" | "pid">;

/** How to measure the same once more. */
export type MeasuredWith = Omit<RecordParams, "workDoneToken" | "output">;

/** Of a recording that was open once; the fields are those of Recording. */
export type Figures = Pick<
  Recording,
  "backend" | "trace_ns" | "lost_ns" | "lost_records" | "gaps" | "decode_errors" | "threads"
>;

export interface RecordingEntry {
  /** Names it for good, unlike the helper's id, which it has while it is open. */
  readonly key: string;
  readonly path: string;
  /** As the user calls it. */
  readonly name: string;
  /** The functions that it was made for; none: every function alike. */
  readonly functions: readonly FunctionSelector[];
  /** The process or program, empty where it is not known. */
  readonly target: string;
  /** When it was made, ms since 1970. */
  readonly when: number;
  readonly figures: Figures;
  readonly openedWith: OpenedWith;
  /** Absent where it was not measured here. */
  readonly measuredWith?: MeasuredWith;
}

/** What the one who made or opened a recording knows of it beside the recording itself. */
export interface RecordingFacts {
  readonly name?: string;
  readonly functions?: readonly FunctionSelector[];
  readonly target?: string;
  readonly when?: number;
  readonly openedWith?: OpenedWith;
  readonly measuredWith?: MeasuredWith;
}

export function figuresOf(recording: Recording): Figures {
  const { backend, trace_ns, lost_ns, lost_records, gaps, decode_errors, threads } = recording;
  return { backend, trace_ns, lost_ns, lost_records, gaps, decode_errors, threads };
}

/** Without its parameters. */
export function shortName(name: string): string {
  return name.replace(/\([^()]*\)( const)?$/, "");
}

/** After the functions, else the target, else the last part of the path. */
export function defaultName(path: string, facts: RecordingFacts): string {
  const functions = (facts.functions ?? []).map(({ name }) => shortName(name));
  const parts = path.split("/").filter((part) => part !== "");
  const last = parts.at(-1) ?? path;
  const file = last === "perf.data" ? (parts.at(-2) ?? last) : last;
  if (functions.length === 0) return facts.target !== undefined && facts.target !== "" ? facts.target : file;
  const [first = "", ...others] = functions;
  return others.length === 0 ? first : `${first} + ${String(others.length)}`;
}

export function isLossy({ lost_ns, lost_records, decode_errors }: Figures): boolean {
  return lost_ns > 0 || lost_records > 0 || decode_errors > 0;
}

/** The entry alone, of an object that holds more. */
export function entryOf(item: RecordingEntry): RecordingEntry {
  const { key, path, name, functions, target, when, figures, openedWith, measuredWith } = item;
  const entry = { key, path, name, functions, target, when, figures, openedWith };
  return measuredWith === undefined ? entry : { ...entry, measuredWith };
}

/** What is kept between windows. */
export interface Memory {
  readonly recordings: readonly RecordingEntry[];
  readonly active: string | undefined;
  readonly baseline: string | undefined;
}

export function memoryToJson(memory: Memory): unknown {
  return { version: 1, ...memory };
}

/** Whatever was kept, also by another version: what cannot be understood is left out. */
export function memoryFromJson(value: unknown): Memory {
  const kept = asRecord(value);
  const recordings = Array.isArray(kept.recordings) ? kept.recordings.flatMap(entryFromJson) : [];
  const known = (key: unknown): string | undefined => recordings.find((entry) => entry.key === key)?.key;
  const active = known(kept.active);
  const baseline = known(kept.baseline);
  return { recordings, active, baseline: baseline === active ? undefined : baseline };
}

function entryFromJson(value: unknown): RecordingEntry[] {
  const kept = asRecord(value);
  const { key, path, name, target, when } = kept;
  const figures = figuresFromJson(kept.figures);
  if (typeof key !== "string" || typeof path !== "string" || path === "" || figures === undefined) return [];
  const measuredWith = kept.measuredWith;
  return [
    {
      key,
      path,
      name: typeof name === "string" && name !== "" ? name : defaultName(path, {}),
      functions: Array.isArray(kept.functions) ? kept.functions.flatMap(selectorFromJson) : [],
      target: typeof target === "string" ? target : "",
      when: typeof when === "number" ? when : 0,
      figures,
      openedWith: openedWithFromJson(kept.openedWith),
      // The helper checks each field of it when it is used.
      ...(typeof measuredWith === "object" && measuredWith !== null ? { measuredWith } : {}),
    },
  ];
}

function figuresFromJson(value: unknown): Figures | undefined {
  const kept = asRecord(value);
  const { backend } = kept;
  if (backend !== "intel_pt" && backend !== "uprobe") return undefined;
  const number = (name: string): number => (typeof kept[name] === "number" ? kept[name] : 0);
  return {
    backend,
    trace_ns: number("trace_ns"),
    lost_ns: number("lost_ns"),
    lost_records: number("lost_records"),
    gaps: number("gaps"),
    decode_errors: number("decode_errors"),
    threads: number("threads"),
  };
}

function selectorFromJson(value: unknown): FunctionSelector[] {
  const { name, binary, address } = asRecord(value);
  if (typeof name !== "string" || name === "") return [];
  return [
    {
      name,
      ...(typeof binary === "string" ? { binary } : {}),
      ...(typeof address === "string" ? { address } : {}),
    },
  ];
}

function openedWithFromJson(value: unknown): OpenedWith {
  const kept = asRecord(value);
  const options: OpenedWith = {};
  for (const name of ["symfs", "kallsyms", "kcore"] as const) {
    const text = kept[name];
    if (typeof text === "string" && text !== "") options[name] = text;
  }
  if (typeof kept.pid === "number") options.pid = kept.pid;
  return options;
}
