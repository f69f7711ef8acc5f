import assert from "node:assert/strict";
import { alignedTexts, gutterLevel, gutterOpacities, heatLevel, isStale, widthOfText } from "../../../extension/src/annotations/annotation-text";
import type { AnnotationsResult, LineAnnotation } from "../../../extension/src/protocol/protocol";

const plain = (text: string): string => text.replaceAll("\u00a0", " ");
const row = (fields: Partial<LineAnnotation> = {}): LineAnnotation => ({
  line: 1,
  function_line: 1,
  calls: 1000,
  mean: 12_345,
  total: 12_345_000,
  incomplete: 0,
  unwound: 0,
  off_cpu: 0,
  share: 50,
  waiting: false,
  staleness: "current",
  text: "",
  ...fields,
});
const result = (fields: Partial<AnnotationsResult> = {}): AnnotationsResult => ({
  id: "1",
  staleness: "current",
  baseline: false,
  off_cpu_known: true,
  timed: true,
  hottest: 12_345_000,
  binaries: [],
  lines: [],
  ...fields,
});

describe("texts of one file", () => {
  const rows = [
    row({ line: 2, text: "  85 ns ×      7" }),
    row({ line: 3, text: "1.23 ms × 12,000" }),
    row({ line: 30, function_line: 20, text: "5 ns × 1" }),
  ];
  const widths: Record<number, number> = { 2: 10, 3: 40, 30: 12 };
  const aligned = alignedTexts(result({ lines: rows }), (line) => widths[line] ?? 0);

  it("begin in one column, three columns after the longest line with figures", () => {
    assert.deepEqual(aligned.map(({ row: { line }, distance }) => (widths[line] ?? 0) + distance), [43, 43, 43]);
  });
  it("stay in that column when other lines are in sight", () => {
    const heat = { line: [2, 3, 30], total: [1, 1, 1] };
    const [only] = alignedTexts(result({ lines: rows.slice(2), heat }), (line) => widths[line] ?? 0);
    assert.equal(only?.distance, 43 - 12);
  });
  it("are missing where there is nothing to say", () => {
    const texts = alignedTexts(result({ lines: [...rows, row({ line: 31 })] }), (line) => widths[line] ?? 500);
    assert.deepEqual(texts.map(({ row: { line } }) => line), [2, 3, 30]);
  });
  it("keep the helper's padding, in blanks that a decoration does not collapse", () => {
    assert.equal(aligned[0]?.text, "\u00a0\u00a085\u00a0ns\u00a0×\u00a0\u00a0\u00a0\u00a0\u00a0\u00a07");
    assert.equal(plain(aligned[1]?.text ?? ""), "1.23 ms × 12,000");
  });
  it("follow a line that is too long, without a bar, and leave the others in their column", () => {
    const text = "1.23 ms  ×     12  ━━╸     45.8 % · faster −12 %";
    const [long, short] = alignedTexts(result({ lines: [row({ line: 2, text }), row({ line: 3, text })] }), (line) => (line === 2 ? 300 : 20));
    assert.deepEqual([long?.distance, plain(long?.text ?? "")], [3, "1.23 ms × 12 45.8 % · faster −12 %"]);
    assert.deepEqual([short?.distance, plain(short?.text ?? "")], [50 - 20 + 3, text]);
  });
});

describe("a line's figures", () => {
  it("are stale if the source or the binary changed", () => {
    assert.deepEqual((["edited", "edited_elsewhere", "newer_source", "rebuilt"] as const).map((staleness) => isStale({ staleness })), [true, true, true, true]);
    assert.deepEqual((["current", "unknown"] as const).map((staleness) => isStale({ staleness })), [false, false]);
  });
});

describe("a line's width", () => {
  it("counts tabs to the next stop, and characters once", () => {
    assert.equal(widthOfText("\tab\tc", 4), 9);
    assert.equal(widthOfText("µ😀", 4), 2);
  });
});

describe("heat", () => {
  it("falls by one level per factor of ten", () => {
    assert.deepEqual([100, 11, 1, 0.1, 0.001, 0].map((share) => heatLevel(share, 100)), [3, 2, 1, 0, 0, 0]);
  });
  it("is lowest if nothing took time", () => {
    assert.equal(heatLevel(0, 0), 0);
  });
});

describe("the mark in the gutter", () => {
  it("is full for half of the function's time, and missing up to a hundredth", () => {
    const opacity = (share: number | null): number => gutterOpacities[gutterLevel(share) ?? -1] ?? 0;
    assert.deepEqual([100, 50, 49, 30, 25, 10, 1.5, 1, 0, null].map(opacity), [1, 1, 0.75, 0.5, 0.5, 0.3, 0.3, 0, 0, 0]);
  });
});
