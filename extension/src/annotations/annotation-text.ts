// Places the text that the helper makes for a line. The texts of one function begin in the same column. Without the
// vscode module.
import type { AnnotationsResult, LineAnnotation } from "../protocol/protocol";

/** Lines longer than this do not move the column of their function further to the right. */
const furthestColumn = 96;
const gap = 3;
const blank = "\u00a0"; // a decoration collapses other spaces

/** Whether the figures belong to another text or binary than the current ones. */
export function isStale({ staleness }: Pick<LineAnnotation, "staleness">): boolean {
  return staleness !== "current" && staleness !== "unknown";
}

export interface AlignedText {
  readonly row: LineAnnotation;
  readonly text: string;
}

/** Returns the texts of the rows, each with the spaces that align it. `widthOf` returns the width of a line in columns. */
export function alignedTexts(result: AnnotationsResult, widthOf: (line: number) => number): AlignedText[] {
  const columns = new Map<number, number>();
  for (const row of result.lines) {
    const column = Math.min(widthOf(row.line), furthestColumn);
    columns.set(row.function_line, Math.max(columns.get(row.function_line) ?? 0, column));
  }
  return result.lines.map((row) => {
    const column = columns.get(row.function_line) ?? 0;
    const blanks = blank.repeat(Math.max(0, column - widthOf(row.line)) + gap);
    return { row, text: blanks + row.text.replaceAll(" ", blank) };
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
