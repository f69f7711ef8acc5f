import { strict as assert } from "node:assert";
import { heat, lineText } from "../../extension/src/decoration-text";
import type { LineCalls } from "../../extension/src/protocol";

function row(values: Partial<LineCalls>): LineCalls {
  const offCpu = { mean: 0, total: 0, calls: 0, switches: 0, blocked: 0, preempted: 0 };
  return { line: 1, calls: 0, mean: 0, p99: 0, total: 0, incomplete: 0, unwound: 0, off_cpu: offCpu, callees: [], ...values };
}

const known = { off_cpu_known: true, resolution_ns: 1 };

describe("lineText", () => {
  it("says mean, calls and off-CPU", () => {
    const offCpu = { mean: 5100, total: 5_100_000, calls: 3, switches: 3, blocked: 5_100_000, preempted: 0 };
    assert.equal(lineText(row({ calls: 1000, mean: 12_300, off_cpu: offCpu }), known), "12.3 µs × 1,000 · off-CPU 5.10 ms total");
  });
  it("leaves off-CPU out where it is none or unknown", () => {
    const offCpu = { mean: 1, total: 9, calls: 1, switches: 1, blocked: 9, preempted: 0 };
    assert.equal(lineText(row({ calls: 1, mean: 9 }), known), "9 ns × 1");
    assert.equal(lineText(row({ calls: 1, mean: 9, off_cpu: offCpu }), { ...known, off_cpu_known: false }), "9 ns × 1");
  });
  it("says what is not in the statistics", () => {
    assert.equal(lineText(row({ unwound: 3 }), known), "3 unwound");
    assert.equal(lineText(row({ calls: 2, mean: 10, unwound: 3, incomplete: 1 }), known), "10 ns × 2 · 3 unwound · 1 incomplete");
  });
  it("shows no latency where the recording has no timing", () => {
    assert.equal(lineText(row({ calls: 1000, mean: 0 }), { ...known, resolution_ns: null }), "1,000 calls · no timing");
  });
  it("says nothing about a line without calls", () => {
    assert.equal(lineText(row({}), known), undefined);
  });
});

describe("heat", () => {
  it("falls by a quarter for each decade below the hottest line", () => {
    assert.equal(heat(1000, 1000), 1);
    assert.equal(heat(100, 1000), 0.75);
    assert.ok(Math.abs(heat(1, 1000) - 0.25) < 1e-12);
    assert.equal(heat(1, 1e9), 0);
    assert.equal(heat(0, 0), 0);
  });
});
