import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import path from "node:path";
import { formatBytes, formatCalls, formatCount, formatDuration, formatFigure, formatPercent, formatSlower, percentOf } from "../../../extension/src/base/units";

describe("formatDuration", () => {
  // The helper is tested against the same table.
  const table = JSON.parse(readFileSync(path.resolve(__dirname, "../../test/tables/durations.json"), "utf8")) as [number, string][];
  for (const [nanoseconds, text] of table) {
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

describe("figures with their uncertainty", () => {
  // The helper is tested against the same table.
  const table = JSON.parse(readFileSync(path.resolve(__dirname, "../../test/tables/figures.json"), "utf8")) as {
    figures: [number, number, string][];
    slower: [number, string][];
  };
  for (const [nanoseconds, uncertainty, text] of table.figures) {
    it(`${String(nanoseconds)} ns ± ${String(uncertainty)} ns is ${text}`, () => {
      assert.equal(formatFigure(nanoseconds, uncertainty), text);
    });
  }
  for (const [factor, text] of table.slower) {
    it(`${String(factor)} is ${text}`, () => {
      assert.equal(formatSlower(factor), text);
    });
  }
});

describe("counts, shares and sizes", () => {
  it("separates thousands", () => {
    assert.equal(formatCount(10_000), "10,000");
    assert.equal(formatCalls(1), "1 call");
    assert.equal(formatCalls(1_234_567), "1,234,567 calls");
  });
  it("does not show small shares as 0 %", () => {
    assert.equal(formatPercent(0), "0 %");
    assert.equal(formatPercent(0.04), "< 0.1 %");
    assert.equal(formatPercent(0.06), "0.1 %");
    assert.equal(formatPercent(4.25), "4.2 %");
    assert.equal(formatPercent(9.96), "10 %");
    assert.equal(formatPercent(412), "412 %");
  });
  it("returns 0 for a share of 0", () => {
    assert.equal(percentOf(5, 0), 0);
    assert.equal(percentOf(1, 4), 25);
  });
  it("uses binary prefixes", () => {
    assert.equal(formatBytes(512), "512 B");
    assert.equal(formatBytes(1_572_864), "1.50 MiB");
  });
});
