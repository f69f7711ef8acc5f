// Formats figures by the rules of the panel: a no-break space before the unit, 0 without a unit, signs at differences.
import { formatBriefFigure, formatCount, formatDuration, formatFigure } from "../../extension/src/base/units";

const space = "\u00a0";
const minus = "\u2212";
const dash = "\u2013";

const unbroken = (text: string): string => text.replaceAll(" ", space);

/** Formats ns: "31.5 µs", "0". */
export function time(ns: number): string {
  return ns === 0 ? "0" : unbroken(formatDuration(ns));
}

/** "1.23 µs ± 80 ns" where the uncertainty counts; "0" for an exact 0. */
export function figure(ns: number, uncertainty = 0): string {
  return ns === 0 && uncertainty === 0 ? "0" : unbroken(formatFigure(ns, uncertainty));
}

/** The figure alone, which a row of a table has room for: "1.23 µs", or "< 3.20 µs" where only a limit is known. */
export function briefFigure(ns: number, uncertainty = 0): string {
  return ns === 0 && uncertainty === 0 ? "0" : unbroken(formatBriefFigure(ns, uncertainty));
}

/** "+5.05 ms", "−40 ns", "none" below the resolution. */
export function difference(ns: number, resolution = 0): string {
  if (ns === 0 || Math.abs(ns) < resolution) return "none";
  return `${ns < 0 ? minus : "+"}${time(Math.abs(ns))}`;
}

/** A share of 1 with one decimal: "98.6 %". */
export function share(part: number): string {
  const percent = 100 * part;
  if (percent !== 0 && Math.abs(percent) < 0.05) return `${percent < 0 ? minus : ""}<${space}0.1${space}%`;
  const text = Math.abs(percent).toFixed(1);
  return `${percent < 0 ? minus : ""}${text}${space}%`;
}

/** A change of 1 in percent with its sign: one decimal under 10, none above. */
export function change(part: number): string {
  const percent = Math.abs(100 * part);
  const text = percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0);
  return `${part < 0 ? minus : "+"}${text}${space}%`;
}

export function count(value: number): string {
  return formatCount(value);
}

const units: readonly (readonly [string, number])[] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

function unitOf(ns: number): readonly [string, number] {
  return units.find(([, size]) => Math.abs(ns) >= size) ?? ["ns", 1];
}

/** Rounds to so many significant digits. */
export function rounded(value: number, digits = 2): number {
  return value === 0 ? 0 : Number(value.toPrecision(digits));
}

function limit(ns: number, digits: number, [, size] = unitOf(ns)): string {
  return String(rounded(ns / size, digits));
}

/** A limit as the user set it, two digits: "3.5 ms". */
export function threshold(ns: number, digits = 2): string {
  return `${limit(ns, digits)}${space}${unitOf(ns)[0]}`;
}

/** "3.5–6.5 ms", "800 µs–1.2 ms", "≥ 3.5 ms", "< 6.5 ms". A bound that is null is open. */
export function range(low: number | null, high: number | null): string {
  if (low === null && high === null) return "";
  if (high === null) return `≥${space}${threshold(low ?? 0)}`;
  if (low === null || low === 0) return `<${space}${threshold(high)}`;
  let digits = 2;
  while (digits < 6 && threshold(low, digits) === threshold(high, digits)) digits += 1;
  const unit = unitOf(high);
  if (unitOf(low)[0] === unit[0]) return `${limit(low, digits, unit)}${dash}${threshold(high, digits)}`;
  return `${threshold(low, digits)}${dash}${threshold(high, digits)}`;
}

/** A tick of an axis: "200 µs". */
export function tick(ns: number): string {
  return threshold(ns, 3);
}

/** A time on an axis, as precise as its ticks are apart. */
export function tickText(ns: number, step: number): string {
  if (ns === 0) return "0";
  return threshold(ns, Math.max(2, Math.ceil(Math.log10(ns / step) + 1e-9) + 1));
}

/** Seconds since the start of the recording, as precise as the calls are far apart: "1.1097 s". */
export function moment(ns: number): string {
  return `${(ns / 1e9).toFixed(4)}${space}s`;
}
