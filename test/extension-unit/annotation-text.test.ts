import assert from "node:assert/strict";
import { changeText, heatStep, lineText, placedTexts, widthOfText } from "../../extension/src/annotation-text";
import type { AnnotatedLineTime, AnnotationsResult, LineAnnotation } from "../../extension/src/protocol";

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

describe("the text at a line's end", () => {
  it("is mean, calls and off-CPU", () => {
    assert.equal(plain(lineText(row({ off_cpu: 5_100_000 }), result())), "12.3 µs × 1,000 · off-CPU 5.10 ms total");
  });
  it("counts what has no timing, and what is not complete", () => {
    assert.equal(plain(lineText(row({ unwound: 2, incomplete: 1 }), result({ timed: false }))), "1,000 calls · no timing · 2 unwound · 1 incomplete");
    assert.equal(plain(lineText(row({ calls: 0, incomplete: 3 }), result())), "3 incomplete");
  });
  it("says that it is of another text or binary", () => {
    assert.equal(plain(lineText(row({ staleness: "edited" }), result())), "✎ 12.3 µs × 1,000");
    assert.equal(plain(lineText(row({ staleness: "file_edited" }), result())), "✎ 12.3 µs × 1,000");
    assert.equal(plain(lineText(row({ staleness: "newer" }), result())), "? 12.3 µs × 1,000");
    assert.equal(plain(lineText(row({ staleness: "rebuilt" }), result())), "12.3 µs × 1,000 · old binary");
    assert.equal(plain(lineText(row({ staleness: "unknown" }), result())), "12.3 µs × 1,000");
  });
  it("holds the change against a baseline by its sign", () => {
    const changed = { mean_percent: -12.4, mean: "changed", p99_ns: 3000, p99: "changed" } as const;
    assert.equal(changeText(row({ difference: changed })), "−12 %, p99 +3.00 µs");
    assert.equal(changeText(row({ difference: { ...changed, p99: "few_calls" } })), "−12 %");
    assert.equal(changeText(row({ difference: { ...changed, mean: "unchanged", p99: "unchanged" } })), "≈ baseline");
    assert.equal(changeText(row({ difference: { ...changed, mean: "few_calls", p99: "few_calls" } })), "too few calls to compare");
    assert.equal(changeText(row()), "not in the baseline");
  });
});

describe("line time at a line's end", () => {
  const time = (fields: Partial<AnnotatedLineTime> = {}): AnnotatedLineTime => ({
    executions: 1000,
    at_least: 12_000_000,
    at_most: 12_690_000,
    time: 12_345_000,
    resolution: 345_000,
    shared_with: "12",
    shared_with_others: true,
    ...fields,
  });
  const own = { calls: 0, mean: 0, total: 0 };
  const untold = { time: null, resolution: null };
  it("is the mean of its executions", () => {
    assert.equal(plain(lineText(row({ ...own, line_time: time() }), result())), "line 12.3 µs × 1,000");
  });
  it("follows the calls from the line, in one text", () => {
    assert.equal(plain(lineText(row({ off_cpu: 5_100_000, line_time: time() }), result())), "12.3 µs × 1,000 · off-CPU 5.10 ms total · line 12.3 µs × 1,000");
  });
  it("is told as shared where nothing tells it apart", () => {
    const shared = time({ ...untold, at_least: 0, at_most: 40_100, shared_with: "10–13, 15" });
    assert.equal(plain(lineText(row({ ...own, line_time: shared }), result())), "line × 1,000 · ≤ 40.1 µs shared with lines 10–13, 15");
    assert.equal(plain(lineText(row({ ...own, line_time: { ...shared, shared_with: "" } }), result())), "line × 1,000 · ≤ 40.1 µs shared with what it calls");
  });
  it("says why there is none", () => {
    assert.equal(plain(lineText(row({ ...own, line_time: time({ ...untold, at_least: null, at_most: null }) }), result({ timed: false }))), "line × 1,000 · no timing");
    assert.equal(plain(lineText(row({ ...own, line_time: time({ ...untold, at_least: 0, at_most: 0 }) }), result())), "line × 1,000 · too short to time");
  });
  it("is not compared with a baseline, and is marked as of another text", () => {
    assert.equal(plain(lineText(row({ ...own, line_time: time(), staleness: "edited" }), result({ baseline: true }))), "✎ line 12.3 µs × 1,000");
  });
});

describe("texts of one function", () => {
  const rows = [
    row({ line: 2, mean: 85, calls: 7 }),
    row({ line: 3, mean: 1_234_567, calls: 12_000 }),
    row({ line: 30, function_line: 20, mean: 5, calls: 1 }),
  ];
  const widths: Record<number, number> = { 2: 10, 3: 40, 30: 12 };
  const placed = placedTexts(result({ lines: rows }), (line) => widths[line] ?? 0);

  it("begin in one column, three behind the longest line", () => {
    const starts = placed.map(({ row: { line }, text }) => (widths[line] ?? 0) + (text.length - text.trimStart().length));
    // The figures themselves are padded: 85 ns is one character shorter than 1.23 ms.
    assert.deepEqual(starts, [43 + 2, 43, 15 + 3]);
  });
  it("have numbers that end below each other", () => {
    const ends = placed.map(({ row: { line }, text }) => (widths[line] ?? 0) + text.length);
    assert.equal(ends[0], ends[1]);
    assert.equal(plain(placed[0]?.text ?? "").trim(), "85 ns ×      7");
  });
  it("are not pushed out by one very long line", () => {
    const [long, short] = placedTexts(result({ lines: rows.slice(0, 2) }), (line) => (line === 2 ? 300 : 20));
    assert.equal(long?.text.search(/[^\u00a0]/), 3 + 2);
    assert.equal(short?.text.search(/[^\u00a0]/), 96 - 20 + 3);
  });
});

describe("a line's width", () => {
  it("counts tabs to the next stop, and characters once", () => {
    assert.equal(widthOfText("\tab\tc", 4), 9);
    assert.equal(widthOfText("µ😀", 4), 2);
  });
});

describe("heat", () => {
  it("falls by a step a decade", () => {
    assert.deepEqual([100, 11, 1, 0.1, 0.001, 0].map((share) => heatStep(share, 100)), [3, 2, 1, 0, 0, 0]);
  });
  it("is cool where nothing took time", () => {
    assert.equal(heatStep(0, 0), 0);
  });
});
