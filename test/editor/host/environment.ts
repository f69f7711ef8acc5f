// The environment variables that test/editor/run.mjs sets for the tests in the extension host.
import { execFileSync } from "node:child_process";
import type { FigureErrors, Latency, LinesResult, Report } from "../../../extension/src/protocol/protocol";

export function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set: run test/editor/run.mjs`);
  return value;
}

/** Runs the helper and parses its JSON; with --json-lines, returns a list of all lines. */
export function helperJson(...args: string[]): unknown {
  const text = execFileSync(environment("PTLENS_HELPER"), args, { encoding: "utf8", maxBuffer: 1 << 28 });
  if (!args.includes("--json-lines")) return JSON.parse(text);
  return text.split("\n").filter(Boolean).map((line): unknown => JSON.parse(line));
}

/** Returns the report of the command line. */
export function reportJson(recording: string, name: string): Report {
  return helperJson("report", recording, "--function", name, "--json") as Report;
}

export function linesJson(recording: string, file: string): LinesResult {
  return helperJson("lines", recording, "--file", file, "--json") as LinesResult;
}

/** Formats a duration independently of the extension. */
export function duration(ns: number): string {
  if (Number.isInteger(ns) && ns < 1000) return `${String(ns)} ns`;
  const rounded = Number(ns.toPrecision(3));
  const power = Math.min(3, Math.max(0, Math.floor(Math.log10(rounded) / 3)));
  const digits = { minimumSignificantDigits: 3, maximumSignificantDigits: 3, roundingMode: "halfEven" } as const;
  return `${(ns / 1000 ** power).toLocaleString("en-US", digits)} ${["ns", "µs", "ms", "s"][power] ?? ""}`;
}

/** Formats a duration with its uncertainty, by the rule of the documentation. */
export function figure(ns: number, uncertainty = 0): string {
  if (uncertainty > 0 && uncertainty >= ns) return `< ${duration(ns + uncertainty)}`;
  return uncertainty > 0 && uncertainty * 20 >= ns ? `${duration(ns)} ± ${duration(uncertainty)}` : duration(ns);
}

/** Returns a figure without its uncertainty, as in lenses and at the ends of lines. */
export const brief = (text: string): string => text.replace(/ ± .*$/, "");

/** Formats a figure of a latency. */
export function latencyFigure(latency: Latency, name: keyof FigureErrors): string {
  return figure(latency[name], latency.uncertainty?.[name] ?? (name === "total" ? 0 : latency.resolution));
}

export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Returns the text of a decoration without its bar and the spaces that align it. */
export function plain(text: string | undefined): string {
  return (text ?? "").replaceAll("\u00a0", " ").replace(/[━╸╍]/g, "").replace(/ +/g, " ").trim();
}
