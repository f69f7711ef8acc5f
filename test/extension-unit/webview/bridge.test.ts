import { strict as assert } from "node:assert";
import { axisOf, axisTicks, effectOf, labelOf, stateOf, stepsOf, type Component, type Explanation } from "../../../webview/why/bridge";

function component(delta: number, kind: Component["kind"] = "child", path: Component["path"] = []): Component {
  return {
    kind, path, delta, function: "f", call_site: null, file: "", line: 0, slow_mean: delta, typical_mean: 0, share: 0, count_part: 0, cost_part: 0,
    slow_count: 1, typical_count: 0, slow_presence: 1, typical_presence: 0, example: null, share_low: 0, share_high: 0, cause: "f",
  };
}

function explained(typical: number, deltas: readonly number[]): Pick<Explanation, "typical" | "slow" | "gap" | "components"> {
  const gap = deltas.reduce((sum, delta) => sum + delta, 0);
  const set = (mean: number): Explanation["slow"] => ({ calls: 1, mean, low: mean, high: mean });
  return { typical: set(typical), slow: set(typical + gap), gap, components: deltas.map((delta) => component(delta)) };
}

// The design's example: 31.5 µs + 5,050 + 40 + 22 + 9 µs.
const example = explained(31_500, [22_000, 5_050_000, 40_000, 9_000]);

describe("bridge", () => {
  it("leads from the typical to the slow call, the largest cause first", () => {
    const steps = stepsOf(example);
    assert.deepEqual(steps.map(({ component: index, from, to }) => [index, from, to]), [
      [1, 31_500, 5_081_500],
      [2, 5_081_500, 5_121_500],
      [0, 5_121_500, 5_143_500],
      [3, 5_143_500, 5_152_500],
    ]);
  });
  it("puts what is left over in a last step if it is 1 % or more", () => {
    // Nine equal parts: seven are named, two ninths are left.
    const steps = stepsOf(explained(0, Array<number>(9).fill(100)));
    assert.equal(steps.length, 8);
    assert.deepEqual(steps.at(-1), { component: undefined, from: 700, to: 900, state: "on" });
    // 0.09 % is not named, and too little for a step.
    assert.deepEqual(stepsOf(explained(0, [99_910, 90])).length, 1);
  });
  it("goes down where slow calls spend less", () => {
    assert.deepEqual(stepsOf(explained(100, [50, -20])).map(({ from, to }) => [from, to]), [[100, 150], [150, 130]]);
  });
  it("takes the state of what a cause leads to", () => {
    const blocked = { ...component(1), kind: "blocked" as const };
    assert.equal(stateOf(component(1, "child", [component(1), blocked])), "blk");
    assert.equal(stateOf(component(1, "preempted")), "pre");
    assert.equal(stateOf(component(1, "self")), "on");
  });
  it("names a cause in a few words", () => {
    const child = { ...component(1), function: "shop::write_audit()" };
    const blocked = { ...component(1), kind: "blocked" as const };
    assert.equal(labelOf({ ...child, path: [blocked] }), "waiting in write_audit");
    assert.equal(labelOf({ ...child, count_part: 1, slow_count: 3, typical_count: 1 }), "write_audit 3×, not 1×");
    assert.equal(labelOf({ ...child, cost_part: 1 }), "write_audit");
    assert.equal(labelOf(component(1, "self")), "its own instructions");
  });
  it("cuts the axis only where one cause is more than ten times all others", () => {
    const axis = axisOf(31_500, stepsOf(example));
    assert.ok(axis.cut !== undefined);
    assert.ok(axis.cut[0] > 31_500 && axis.cut[1] < 5_081_500, "inside the largest cause");
    assert.equal(axis.place(0), 0);
    assert.ok(Math.abs(axis.place(axis.end) - 1) < 1e-12);
    // Outside of the cut, equal times have equal widths.
    const width = (from: number, to: number): number => axis.place(to) - axis.place(from);
    assert.ok(Math.abs(width(0, 20_000) - width(5_100_000, 5_120_000)) < 1e-12);
    const ticks = axisTicks(axis);
    assert.ok(ticks.length >= 4);
    for (const tick of ticks) assert.ok(tick <= axis.cut[0] || tick >= axis.cut[1], String(tick));
    const plain = axisOf(100, stepsOf(explained(100, [500, 100])));
    assert.equal(plain.cut, undefined);
    assert.equal(plain.place(350), 0.5);
  });
  it("says whether a callee was called more often or took longer", () => {
    const parts = (count: number, cost: number): Component => ({ ...component(count + cost), count_part: count, cost_part: cost });
    assert.equal(effectOf(parts(22_000, 0)), "count");
    assert.equal(effectOf(parts(0, 40_000)), "cost");
    assert.equal(effectOf(parts(12_000, 5_000)), "both");
    assert.equal(effectOf({ ...parts(0, 0), kind: "blocked" }), "none");
  });
});
