// What a caller of the measuring commands may give to skip the questions. Pure: no VS Code in it.

/** How the trace is kept. */
export type Keep =
  | { readonly kind: "all" }
  /** The last moments alone, saved on request and at the end. */
  | { readonly kind: "snapshot" }
  /** The same, until a call took longer, ns. */
  | { readonly kind: "slowCall"; readonly slowerThan: number };

export interface MeasureArguments {
  readonly pid?: number;
  readonly tid?: number;
  readonly function?: string;
  readonly binary?: string;
  /** Of the function in the binary. */
  readonly address?: string;
  /** Source of the function, whose processes are offered first; absent: the editor's. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  /** All functions that answer to the name. */
  readonly all?: boolean;
  /** Seconds. */
  readonly duration?: number;
  readonly output?: string;
  /** ns, of ptlens.catchSlowCall. */
  readonly slowerThan?: number;
}

const names = { pid: "number", tid: "number", function: "string", binary: "string", address: "string", file: "string", line: "number", all: "boolean", duration: "number", output: "string", slowerThan: "number" } as const;

/** What is there and of the right kind. */
export function measureArguments(argument: unknown): MeasureArguments {
  if (typeof argument !== "object" || argument === null) return {};
  const values = argument as Record<string, unknown>;
  const given = Object.entries(names).filter(([name, kind]) => typeof values[name] === kind);
  return Object.fromEntries(given.map(([name]) => [name, values[name]]));
}

/** "5ms", "1.5 s", "250 µs"; a bare number is ms. Undefined: not a time, or none. */
export function parseThreshold(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?\s*$/.exec(text);
  if (match === null) return undefined;
  const factor = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 }[match[2] ?? "ms"] ?? 1e6;
  const ns = Math.round(Number(match[1]) * factor);
  return ns >= 1 ? ns : undefined;
}
