import { strict as assert } from "node:assert";
import { axisLimits } from "../../../webview/overview/axis";
import { resolvedBins } from "../../../webview/overview/resolved";

const sums = (calls: number) => ({ calls, time: 10 * calls, on_cpu: 9 * calls, blocked: calls, preempted: 0 });
const bin = (low: number, high: number, calls: number) => ({ low, high, ...sums(calls), selected: sums(1) });
const bins = [bin(0, 1, 1271), bin(1, 10, 2), bin(10, 3000, 30), bin(3000, 5000, 4), bin(5000, 9000, 7)];

describe("calls below what probes resolve", () => {
  it("are one bin, which ends where a bin ends", () => {
    const { bins: drawn, below, merged, least } = resolvedBins(bins, 4500);
    assert.equal(merged, 4);
    assert.deepEqual([below?.calls, below?.high, below?.time, below?.selected.calls], [1307, 5000, 13_070, 4]);
    assert.deepEqual(drawn.slice(1), bins.slice(4));
    assert.ok(least > 1000 && least < 5000, "the axis begins near the resolution, not at 1 ns");
    assert.equal(axisLimits({ below, least, most: 9000 })[0], least);
  });
  it("change nothing where there are none", () => {
    assert.equal(resolvedBins(bins, 0).below, undefined);
    assert.equal(resolvedBins(bins.slice(4), 4500).below, undefined);
    assert.deepEqual(resolvedBins([], 4500).bins, []);
  });
});
