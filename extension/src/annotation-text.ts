// What is written at the ends of lines with call sites, or with a time of their own: figures in columns of fixed width, all of one function
// beginning in the same column, so that numbers stand below each other. Pure: no VS Code in it.
import type { AnnotatedLineTime, AnnotationsResult, LineAnnotation } from "./protocol";
import { formatCalls, formatCount, formatDuration, formatSignedDuration, formatSignedPercent } from "./units";
import { t } from "./words";

/** What of a recording decides which figures are known. */
export type Known = Pick<AnnotationsResult, "off_cpu_known" | "timed" | "baseline">;

/** As wide as a duration becomes: "1.23 µs", "12.3 ms", "1,204 s". */
const durationWidth = 7;
/** Lines longer than this do not push the column of their function further out. */
const furthestColumn = 96;
const gap = 3;
const blank = "\u00a0"; // what a decoration does not collapse

/** Of a line whose text, or whose function's text, is not what was measured. */
export const staleMark = "✎";
/** Of a file that is newer than the program. */
export const doubtMark = "?";

/** Whether the figures at the line describe another text or binary than the present ones. */
export function isStale({ staleness }: Pick<LineAnnotation, "staleness">): boolean {
  return staleness !== "current" && staleness !== "unknown";
}

/** "✎ 12.3 µs × 1,000 · off-CPU 5.10 ms total · −12 %"; `countWidth`: characters that the count takes at least. */
export function lineText(row: LineAnnotation, known: Known, countWidth = 0): string {
  const parts: string[] = [];
  if (row.calls > 0 && !known.timed) {
    parts.push(formatCalls(row.calls), t("no timing"));
  } else if (row.calls > 0) {
    const mean = formatDuration(row.mean).padStart(durationWidth, blank);
    const count = formatCount(row.calls).padStart(countWidth, blank);
    parts.push(`${mean} × ${count}`);
    if (known.off_cpu_known && row.off_cpu > 0) {
      parts.push(t("off-CPU {0} total", formatDuration(row.off_cpu).padStart(durationWidth, blank)));
    }
  }
  if (row.unwound > 0) parts.push(t("{0} unwound", formatCount(row.unwound)));
  if (row.incomplete > 0) parts.push(t("{0} incomplete", formatCount(row.incomplete)));
  if (row.line_time !== undefined) parts.push(...lineTimeText(row.line_time));
  if (known.baseline && hasCalls(row)) parts.push(changeText(row));
  if (row.staleness === "rebuilt") parts.push(t("old binary"));
  const edited = row.staleness === "edited" || row.staleness === "file_edited";
  const mark = edited ? `${staleMark}${blank}` : row.staleness === "newer" ? `${doubtMark}${blank}` : "";
  return (mark + parts.join(" · ")).replaceAll(" ", blank);
}

function hasCalls({ calls, unwound, incomplete }: LineAnnotation): boolean {
  return calls + unwound + incomplete > 0;
}

/** "line 12.3 ns × 1,000"; "line × 1,000", "≤ 40.1 µs shared with lines 10–13" where it is not known apart from others. */
export function lineTimeText({ executions, time, at_most: most, shared_with: lines }: AnnotatedLineTime): string[] {
  if (time !== null) return [t("line {0} × {1}", formatDuration(time / Math.max(executions, 1)), formatCount(executions))];
  const text = t("line × {0}", formatCount(executions));
  if (most === null) return [text, t("no timing")];
  if (most === 0) return [text, t("too short to time")];
  const longest = formatDuration(most);
  return [text, lines === "" ? t("≤ {0} shared with what it calls", longest) : t("≤ {0} shared with lines {1}", longest, lines)];
}

/** "−12 %, p99 +3.00 µs"; "≈ baseline" where nothing has changed beyond the resolution and the scatter of the calls. */
export function changeText({ difference }: LineAnnotation): string {
  if (difference === undefined) return t("not in the baseline");
  const parts: string[] = [];
  if (difference.mean === "changed") parts.push(formatSignedPercent(difference.mean_percent));
  if (difference.p99 === "changed") parts.push(t("p99 {0}", formatSignedDuration(difference.p99_ns)));
  if (parts.length > 0) return parts.join(", ");
  if (difference.mean === "few_calls") return t("too few calls to compare");
  return difference.mean === "no_timing" ? t("no timing to compare") : t("≈ baseline");
}

export interface PlacedText {
  readonly row: LineAnnotation;
  readonly text: string;
}

/** The texts of the rows, each with the blanks before it that bring it to its function's column. `widthOf`: of a line, in columns. */
export function placedTexts(result: AnnotationsResult, widthOf: (line: number) => number): PlacedText[] {
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

/** Columns that a line takes on the screen. */
export function widthOfText(text: string, tabSize: number): number {
  let column = 0;
  for (const character of text) column += character === "\t" ? tabSize - (column % tabSize) : 1;
  return column;
}

export const heatSteps = 4;

/**
 * How hot a line is: 0 (cool) to heatSteps - 1: its total latency against the hottest line of the file, a decade a
 * step.
 */
export function heatStep(total: number, hottest: number): number {
  if (total <= 0 || hottest <= 0) return 0;
  return Math.max(0, Math.min(heatSteps - 1, heatSteps - 1 + Math.round(Math.log10(total / hottest))));
}
