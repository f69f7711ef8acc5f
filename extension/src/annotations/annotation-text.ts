// Places the text that the helper makes for a line. The texts of a file begin in the same column. Without the vscode
// module.
import type { AnnotationsResult, LineAnnotation } from "../protocol/protocol";

/** Lines longer than this do not move the column further to the right, so that a split has room for the texts. */
const furthestColumn = 50;
const gap = 3;
const blank = "\u00a0"; // a decoration collapses other spaces
/** Size of the texts, as a share of the editor's font. */
export const textSize = 0.85;

/** Whether the figures belong to another text or binary than the current ones. */
export function isStale({ staleness }: Pick<LineAnnotation, "staleness">): boolean {
  return staleness !== "current" && staleness !== "unknown";
}

export interface AlignedText {
  readonly row: LineAnnotation;
  readonly text: string;
  /** Distance from the end of the line, in columns of the editor. */
  readonly distance: number;
}

/** Returns the text without its bar and alignment, for a line that is too long for the column. */
function compact(text: string): string {
  return text.replace(/ {2}[━╸╍]+ */, "  ").replace(/ {2,}/g, " ").trim();
}

/**
 * Returns the texts of the rows that have one, at the distances that align them. `widthOf` returns the width of a line in
 * columns. The lines of the heat count too where they are known, so that scrolling does not move the texts.
 */
export function alignedTexts(result: AnnotationsResult, widthOf: (line: number) => number): AlignedText[] {
  const rows = result.lines.filter(({ text }) => text !== "");
  const lines = [...rows.map(({ line }) => line), ...(result.heat?.line ?? [])];
  const column = lines.reduce((furthest, line) => Math.max(furthest, Math.min(widthOf(line), furthestColumn)), 0);
  return rows.map((row) => {
    const width = widthOf(row.line);
    const text = width > column ? compact(row.text) : row.text;
    return { row, text: text.replaceAll(" ", blank), distance: Math.max(0, column - width) + gap };
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

/** Opacities of the mark in the gutter. */
export const gutterOpacities = [0.3, 0.5, 0.75, 1] as const;

/** Returns the index of the opacity for the share of a line in its function, percent: full for half of the time. Undefined: no mark. */
export function gutterLevel(share: number | null): number | undefined {
  if (share === null || share <= 1) return undefined;
  const full = 50;
  const wanted = share / full;
  const level = gutterOpacities.findLastIndex((opacity) => opacity <= wanted);
  return Math.max(0, level);
}
