import assert from "node:assert/strict";
import { alignedTexts, heatLevel, isStale, widthOfText } from "../../../extension/src/annotations/annotation-text";
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

describe("texts of one function", () => {
  const rows = [
    row({ line: 2, text: "  85 ns ×      7" }),
    row({ line: 3, text: "1.23 ms × 12,000" }),
    row({ line: 30, function_line: 20, text: "5 ns × 1" }),
  ];
  const widths: Record<number, number> = { 2: 10, 3: 40, 30: 12 };
  const aligned = alignedTexts(result({ lines: rows }), (line) => widths[line] ?? 0);

  it("begin in one column, three columns after the longest line", () => {
    const starts = aligned.map(({ row: { line, text: own }, text }) => (widths[line] ?? 0) + (text.length - own.length));
    assert.deepEqual(starts, [43, 43, 15]);
  });
  it("keep the helper's padding, in blanks that a decoration does not collapse", () => {
    assert.ok(aligned[0]?.text.endsWith("\u00a0\u00a085\u00a0ns\u00a0×\u00a0\u00a0\u00a0\u00a0\u00a0\u00a07"));
    assert.equal(plain(aligned[1]?.text ?? "").trim(), "1.23 ms × 12,000");
  });
  it("are not moved by one very long line", () => {
    const [long, short] = alignedTexts(result({ lines: rows.slice(0, 2) }), (line) => (line === 2 ? 300 : 20));
    assert.equal(long?.text.search(/[^\u00a0]/), 3 + 2);
    assert.equal(short?.text.search(/[^\u00a0]/), 96 - 20 + 3);
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
