// Arguments that a caller of the measuring commands may give to skip the questions. Without the vscode module.
import { asRecord } from "../base/records";

/** The part of the trace that is saved. */
export type Mode =
  | { readonly kind: "all" }
  /** The contents of the trace buffers on request and at the end. */
  | { readonly kind: "snapshot" }
  /** The same, as soon as a call took longer than this, ns. */
  | { readonly kind: "slowCall"; readonly slowerThan: number };

export interface MeasureArguments {
  readonly pid?: number;
  readonly tid?: number;
  readonly function?: string;
  readonly binary?: string;
  /** Address of the function in the binary. */
  readonly address?: string;
  /** Source file of the function, whose processes are offered first. Absent: the editor's. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  /** Whether to measure all functions of that name. */
  readonly all?: boolean;
  /** Seconds. */
  readonly duration?: number;
  readonly output?: string;
  /** Threshold of ptlens.catchSlowCall, ns. */
  readonly slowerThan?: number;
}

const types = { pid: "number", tid: "number", function: "string", binary: "string", address: "string", file: "string", line: "number", all: "boolean", duration: "number", output: "string", slowerThan: "number" } as const;

/** Reads the arguments that are present and of the right type. */
export function measureArguments(argument: unknown): MeasureArguments {
  const values = asRecord(argument);
  const given = Object.entries(types).filter(([name, type]) => typeof values[name] === type);
  return Object.fromEntries(given.map(([name]) => [name, values[name]]));
}

/** Reads a time such as "5ms", "1.5 s" or "250 µs" in ns; a bare number is in ms. Returns undefined for anything else. */
export function parseThreshold(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?\s*$/.exec(text);
  if (match === null) return undefined;
  const factor = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 }[match[2] ?? "ms"] ?? 1e6;
  const ns = Math.round(Number(match[1]) * factor);
  return ns >= 1 ? ns : undefined;
}
