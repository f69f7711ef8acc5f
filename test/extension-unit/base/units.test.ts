import { strict as assert } from "node:assert";
import { formatBytes, formatCalls, formatCount, formatDuration, formatPercent, percentOf } from "../../../extension/src/base/units";

describe("formatDuration", () => {
  const cases: [number, string][] = [
    [0, "0 ns"],
    [5, "5 ns"],
    [85.34, "85.3 ns"],
    [0.5, "0.50 ns"],
    [999, "999 ns"],
    [999.4, "999 ns"],
    [999.5, "1.00 µs"],
    [1234, "1.23 µs"],
    [9996, "10.0 µs"],
    [12_250, "12.2 µs"],
    [12_750, "12.8 µs"],
    [12_345, "12.3 µs"],
    [99_960, "100 µs"],
    [999_499, "999 µs"],
    [999_500, "1.00 ms"],
    [5_100_000, "5.10 ms"],
    [1_500_000_000, "1.50 s"],
    [1_204_000_000_000, "1,204 s"],
  ];
  for (const [nanoseconds, text] of cases) {
    it(`${String(nanoseconds)} ns is ${text}`, () => {
      assert.equal(formatDuration(nanoseconds), text);
    });
  }

  it("never shows a figure that is off by more than half a unit of its last digit", () => {
    const units: Record<string, number> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };
    for (let ns = 1; ns < 1e12; ns = Math.ceil(ns * 1.37)) {
      const [digits = "", unit = ""] = formatDuration(ns).split(" ");
      const decimals = digits.split(".")[1]?.length ?? 0;
      const shown = Number(digits.replaceAll(",", "")) * (units[unit] ?? NaN);
      const half = (0.5 / 10 ** decimals) * (units[unit] ?? NaN);
      assert.ok(Math.abs(shown - ns) <= half * (1 + 1e-9), `${String(ns)} became ${digits} ${unit}`);
    }
  });
});

describe("counts, shares and sizes", () => {
  it("separates thousands", () => {
    assert.equal(formatCount(10_000), "10,000");
    assert.equal(formatCalls(1), "1 call");
    assert.equal(formatCalls(1_234_567), "1,234,567 calls");
  });
  it("keeps small shares from looking like nothing", () => {
    assert.equal(formatPercent(0), "0 %");
    assert.equal(formatPercent(0.04), "< 0.1 %");
    assert.equal(formatPercent(0.06), "0.1 %");
    assert.equal(formatPercent(4.25), "4.2 %");
    assert.equal(formatPercent(9.96), "10 %");
    assert.equal(formatPercent(412), "412 %");
  });
  it("has no share of nothing", () => {
    assert.equal(percentOf(5, 0), 0);
    assert.equal(percentOf(1, 4), 25);
  });
  it("uses binary prefixes", () => {
    assert.equal(formatBytes(512), "512 B");
    assert.equal(formatBytes(1_572_864), "1.50 MiB");
  });
});
