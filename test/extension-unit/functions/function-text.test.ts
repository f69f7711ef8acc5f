import { strict as assert } from "node:assert";
import { functionFigures } from "../../../extension/src/functions/function-text";
import type { FunctionSummary, Latency } from "../../../extension/src/protocol/protocol";

const row = (values: Partial<FunctionSummary> = {}): FunctionSummary => ({
  name: "f", binary: "/bin/app", address: null, file: "", line: 0, complete: 12, incomplete: 0, unwound: 0, mean: 5_000, inclusive: 60_000, self: 0, off_cpu: 0, ...values,
});
const latency: Latency = { mean: 5_000, stddev: 0, min: 1, max: 9, p50: 4_000, p90: 8_000, p99: 9_000, p999: 9_000, total: 60_000, resolution: 40 };

describe("the figures of a function in the side bar", () => {
  it("are total, mean and calls, that of the order first", () => {
    assert.equal(functionFigures(row(), { resolution_ns: 40 }, "total", undefined), "total 60.0 µs · mean 5.00 µs · 12 calls");
    assert.equal(functionFigures(row(), { resolution_ns: 40 }, "p99", latency), "p99 9.00 µs · mean 5.00 µs · total 60.0 µs · 12 calls");
    assert.equal(functionFigures(row({ incomplete: 3 }), { resolution_ns: 40 }, "calls", undefined), "12 calls · mean 5.00 µs · total 60.0 µs · 3 incomplete");
  });
  it("are bounds below the distance of timing packets, as in the lens", () => {
    assert.equal(functionFigures(row(), { resolution_ns: 5_000 }, "mean", undefined), "mean < 10.0 µs · total 60.0 µs · 12 calls");
    assert.equal(functionFigures(row({ mean: 0, inclusive: 0 }), { resolution_ns: 80 }, "mean", undefined), "mean < 80 ns · total 0 ns · 12 calls");
  });
  it("are bounds below what probes resolve", () => {
    const uncertainty = { mean: 5_000, inclusive: 60_000, self: 0 };
    assert.equal(functionFigures(row({ uncertainty }), { resolution_ns: 1 }, "total", undefined), "total < 120 µs · mean < 10.0 µs · 12 calls");
  });
  it("have no ±, for which a row has no room", () => {
    assert.equal(functionFigures(row(), { resolution_ns: 4_000 }, "mean", { ...latency, resolution: 4_000 }), "mean 5.00 µs · p99 9.00 µs · total 60.0 µs · 12 calls");
  });
  it("are only the calls without timing", () => {
    assert.equal(functionFigures(row({ mean: 0, inclusive: 0 }), { resolution_ns: null }, "total", undefined), "12 calls · no timing");
  });
});
