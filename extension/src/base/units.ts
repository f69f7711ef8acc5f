// Formats figures: durations with three significant digits, counts with thousands separators, shares in percent. The
// extension and the webview use it; the helper's units.cpp follows the same rules (test/tables).
import * as l10n from "@vscode/l10n";

interface Scale {
  readonly unit: string;
  readonly nanoseconds: number;
}

const scales: readonly Scale[] = [
  { unit: "ns", nanoseconds: 1 },
  { unit: "µs", nanoseconds: 1e3 },
  { unit: "ms", nanoseconds: 1e6 },
  { unit: "s", nanoseconds: 1e9 },
];

// Decimal ties are rounded to the even digit.
const [whole, tenths, hundredths] = [0, 1, 2].map(
  (digits) =>
    new Intl.NumberFormat("en-US", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      roundingMode: "halfEven",
    }),
) as [Intl.NumberFormat, Intl.NumberFormat, Intl.NumberFormat];

/** Formats a number with three significant digits, and more if it has more digits before the decimal point. */
function significant(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 99.95) return whole.format(value);
  return (magnitude >= 9.995 ? tenths : hundredths).format(value);
}

/** Formats ns: "0 ns", "85 ns", "1.23 µs", "12.3 ms", "1,204 s". */
export function formatDuration(nanoseconds: number): string {
  const magnitude = Math.abs(nanoseconds);
  if (magnitude < 999.5) {
    const digits = Number.isInteger(nanoseconds) ? String(nanoseconds) : significant(nanoseconds);
    return `${digits} ns`;
  }
  let chosen = scales[scales.length - 1];
  for (const scale of scales) {
    if (scale.nanoseconds > 1 && magnitude / scale.nanoseconds < 999.5) {
      chosen = scale;
      break;
    }
  }
  if (chosen === undefined) return `${String(nanoseconds)} ns`;
  return `${significant(nanoseconds / chosen.nanoseconds)} ${chosen.unit}`;
}

/** "1.23 µs", "1.23 µs ± 80 ns" if the uncertainty is a twentieth or more, "< 3.20 µs" (their sum) if it is the figure or more. */
export function formatFigure(nanoseconds: number, uncertainty: number): string {
  if (uncertainty > 0 && uncertainty >= nanoseconds) return `< ${formatDuration(nanoseconds + uncertainty)}`;
  if (uncertainty > 0 && uncertainty * 20 >= nanoseconds) return `${formatDuration(nanoseconds)} ± ${formatDuration(uncertainty)}`;
  return formatDuration(nanoseconds);
}

/** The figure without ±: "1.23 µs", or "< 3.20 µs" where only a limit is known. */
export function formatBriefFigure(nanoseconds: number, uncertainty: number): string {
  return uncertainty > 0 && uncertainty >= nanoseconds ? formatFigure(nanoseconds, uncertainty) : formatDuration(nanoseconds);
}

/** "1.04× slower", "at least 10× slower", "less than 1.01× slower". */
export function formatSlower(factor: number): string {
  if (factor < 1.01) return l10n.t("less than {0}× slower", "1.01");
  if (factor >= 9.995) return l10n.t("at least {0}× slower", "10");
  return l10n.t("{0}× slower", factor.toFixed(2));
}

const minus = "\u2212";

/** "+3.00 µs", "−40 ns". */
export function formatSignedDuration(nanoseconds: number): string {
  return `${nanoseconds < 0 ? minus : "+"}${formatDuration(Math.abs(nanoseconds))}`;
}

/** "10,000". */
export function formatCount(count: number): string {
  return whole.format(count);
}

/** "1 call", "10,000 calls". */
export function formatCalls(count: number): string {
  return count === 1 ? l10n.t("1 call") : l10n.t("{0} calls", formatCount(count));
}

/** Formats percent: "0 %", "< 0.1 %", "4.2 %", "12 %". */
export function formatPercent(percent: number): string {
  if (percent === 0) return "0 %";
  if (Math.abs(percent) < 0.05) return "< 0.1 %";
  return `${(Math.abs(percent) < 9.95 ? tenths : whole).format(percent)} %`;
}

/** "+4.2 %", "−12 %". */
export function formatSignedPercent(percent: number): string {
  return `${percent < 0 ? minus : "+"}${formatPercent(Math.abs(percent))}`;
}

/** Returns the share of `part` in `total` in percent; 0 if the total is 0. */
export function percentOf(part: number, total: number): number {
  return total === 0 ? 0 : (100 * part) / total;
}

/** Formats bytes with binary prefixes: "512 B", "1.50 MiB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? String(value) : significant(value)} ${units[unit] ?? "B"}`;
}
