// The text at the end of a line with calls or line time. The figures of one function begin in the same column and have a
// fixed width, so that they are aligned. Without the vscode module.
import * as l10n from "@vscode/l10n";
import { formatCalls, formatCount, formatDuration, formatSignedDuration, formatSignedPercent } from "../base/units";
import type { AnnotatedLineTime, AnnotationsResult, LineAnnotation } from "../protocol/protocol";

/** The fields of a result that determine which figures are known. */
export type Known = Pick<AnnotationsResult, "off_cpu_known" | "timed" | "baseline" | "text">;

/** Characters of the widest duration: "1.23 µs", "12.3 ms", "1,204 s". */
const durationWidth = 7;
/** Lines longer than this do not move the column of their function further to the right. */
const furthestColumn = 96;
const gap = 3;
const blank = "\u00a0"; // a decoration collapses other spaces

/** Marks a line that was edited since it was measured, or whose function was. */
export const staleMark = "✎";
/** Marks the lines of a file that is newer than the program. */
export const doubtMark = "?";

/** Whether the figures belong to another text or binary than the current ones. */
export function isStale(row: LineAnnotation, known: Known): boolean {
  return row.changed || row.old_binary || known.text === "edited" || known.text === "newer";
}

/** "✎ 12.3 µs × 1,000 · off-CPU 5.10 ms total · −12 %"; `countWidth`: minimum width of the count. */
export function lineText(row: LineAnnotation, known: Known, countWidth = 0): string {
  const parts: string[] = [];
  if (row.calls > 0 && !known.timed) {
    parts.push(formatCalls(row.calls), l10n.t("no timing"));
  } else if (row.calls > 0) {
    const mean = formatDuration(row.mean).padStart(durationWidth, blank);
    const count = formatCount(row.calls).padStart(countWidth, blank);
    parts.push(`${mean} × ${count}`);
    if (known.off_cpu_known && row.off_cpu > 0) {
      parts.push(l10n.t("off-CPU {0} total", formatDuration(row.off_cpu).padStart(durationWidth, blank)));
    }
  }
  if (row.unwound > 0) parts.push(l10n.t("{0} unwound", formatCount(row.unwound)));
  if (row.incomplete > 0) parts.push(l10n.t("{0} incomplete", formatCount(row.incomplete)));
  if (row.line_time !== undefined) parts.push(...lineTimeText(row.line_time));
  if (known.baseline && hasCalls(row)) parts.push(changeText(row));
  if (row.old_binary) parts.push(l10n.t("old binary"));
  const edited = row.changed || known.text === "edited";
  const mark = edited ? `${staleMark}${blank}` : known.text === "newer" ? `${doubtMark}${blank}` : "";
  return (mark + parts.join(" · ")).replaceAll(" ", blank);
}

function hasCalls({ calls, unwound, incomplete }: LineAnnotation): boolean {
  return calls + unwound + incomplete > 0;
}

/** "line 12.3 ns × 1,000"; "line × 1,000", "≤ 40.1 µs shared with lines 10–13" if the trace does not separate it from other lines. */
export function lineTimeText({ executions, time, at_most: most, shared_with: lines }: AnnotatedLineTime): string[] {
  if (time !== null) return [l10n.t("line {0} × {1}", formatDuration(time / Math.max(executions, 1)), formatCount(executions))];
  const text = l10n.t("line × {0}", formatCount(executions));
  if (most === null) return [text, l10n.t("no timing")];
  if (most === 0) return [text, l10n.t("too short to time")];
  const longest = formatDuration(most);
  return [text, lines === "" ? l10n.t("≤ {0} shared with its callees", longest) : l10n.t("≤ {0} shared with lines {1}", longest, lines)];
}

/** "−12 %, p99 +3.00 µs"; "≈ baseline" if no change exceeds the uncertainty and the scatter of the calls. */
export function changeText({ difference }: LineAnnotation): string {
  if (difference === undefined) return l10n.t("not in the baseline");
  const parts: string[] = [];
  if (difference.mean === "changed") parts.push(formatSignedPercent(difference.mean_percent));
  if (difference.p99 === "changed") parts.push(l10n.t("p99 {0}", formatSignedDuration(difference.p99_ns)));
  if (parts.length > 0) return parts.join(", ");
  if (difference.mean === "few_calls") return l10n.t("too few calls to compare");
  return difference.mean === "no_timing" ? l10n.t("no timing to compare") : l10n.t("≈ baseline");
}

export interface AlignedText {
  readonly row: LineAnnotation;
  readonly text: string;
}

/** Returns the texts of the rows, each with the spaces that align it. `widthOf` returns the width of a line in columns. */
export function alignedTexts(result: AnnotationsResult, widthOf: (line: number) => number): AlignedText[] {
  const groups = new Map<number, { column: number; countWidth: number }>();
  for (const row of result.lines) {
    const group = groups.get(row.function_line) ?? { column: 0, countWidth: 0 };
    group.column = Math.max(group.column, Math.min(widthOf(row.line), furthestColumn));
    group.countWidth = Math.max(group.countWidth, formatCount(row.calls).length);
    groups.set(row.function_line, group);
  }
  return result.lines.map((row) => {
    const { column = 0, countWidth = 0 } = groups.get(row.function_line) ?? {};
    const blanks = blank.repeat(Math.max(0, column - widthOf(row.line)) + gap);
    return { row, text: blanks + lineText(row, result, countWidth) };
  });
}

/** Returns the width of a line on the screen, in columns. */
export function widthOfText(text: string, tabSize: number): number {
  let column = 0;
  for (const character of text) column += character === "\t" ? tabSize - (column % tabSize) : 1;
  return column;
}

export const heatLevels = 4;

/**
 * Returns the heat of a line, from 0 (cool) to heatLevels - 1. It compares the total latency with that of the hottest
 * line of the file; each level is a factor of ten.
 */
export function heatLevel(total: number, hottest: number): number {
  if (total <= 0 || hottest <= 0) return 0;
  return Math.max(0, Math.min(heatLevels - 1, heatLevels - 1 + Math.round(Math.log10(total / hottest))));
}
