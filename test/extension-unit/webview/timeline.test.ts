import { strict as assert } from "node:assert";
import { treeOf, type NestedCall, type Part, type Wait } from "../../../webview/timeline/call-tree";
import { align, differencesOf, partingOf } from "../../../webview/timeline/differences";
import { layoutOf } from "../../../webview/timeline/layout";
import { axisOf, foldsOf, runningIn, timeTicks } from "../../../webview/timeline/fold-axis";

function call(depth: number, name: string, start: number, wall: number, offCpu = 0): NestedCall {
  return { depth, function: name, file: "a.c", line: depth, start, latency: wall, wall, off_cpu: offCpu, self: 0, resolution: 0, state: "complete", tail_call: false };
}

function wait(start: number, duration: number, reason: Wait["reason"] = "lock"): Wait {
  return { start, duration, woken: null, reason, likely: false, lock: "", function: "", file: "", line: 0, called: "", kernel: "", waker: null };
}

function tree(calls: NestedCall[], waits: Wait[] = [], lost: { start: number; duration: number }[] = []): Part {
  const root = treeOf({ calls, waits, lost });
  assert.ok(root !== undefined);
  return root;
}

// The design's example, µs as ns: a call of 5,680 with a lock wait of 520 in reserve, and its twin of 31.
const slow = tree(
  [call(0, "handle", 0, 5680), call(1, "accept", 1, 548), call(2, "validate", 2, 10), call(2, "reserve", 22, 526), call(1, "validate", 550, 11), call(1, "audit", 572, 5107)],
  [wait(23, 520), wait(573, 5100, "sleep")],
);
const twin = tree([call(0, "handle", 0, 31), call(1, "accept", 1, 28), call(2, "validate", 2, 10), call(2, "reserve", 22, 6)]);

describe("timeline", () => {
  it("puts each wait into the innermost call that was open", () => {
    const reserve = slow.children[0]?.children[1];
    assert.deepEqual(reserve?.children.map(({ kind, from, to }) => [kind, from, to]), [["wait", 23, 543]]);
    assert.deepEqual(slow.children.map(({ key }) => key.split(" ")[0]), ["accept", "validate", "audit"]);
    assert.equal(treeOf({ calls: [], waits: [], lost: [] }), undefined);
  });

  it("puts lost time into the innermost call, where it is no difference", () => {
    const calls = [call(0, "handle", 0, 31), call(1, "accept", 1, 28), call(2, "validate", 2, 10), call(2, "reserve", 22, 6)];
    const withLoss = tree(calls, [], [{ start: 14, duration: 6 }]);
    assert.deepEqual(withLoss.children[0]?.children.map(({ kind, from, to }) => [kind, from, to]), [["call", 2, 12], ["lost", 14, 20], ["call", 22, 28]]);
    assert.equal(partingOf(withLoss, twin), undefined);
    const { bars } = layoutOf({ timeline: { waits: [], meanwhile: [], thread: "main" }, root: withLoss }, "", undefined, axisOf(31, [], 310)).call;
    assert.deepEqual(bars.filter(({ state }) => state === "lost").map(({ text, x }) => [text, x]), [["lost, 6\u00a0ns", 140]]);
  });

  it("aligns what both calls did", () => {
    const names = (parts: readonly Part[]): string[] => align(parts, twin.children).map(({ one, other }) => `${one?.key.split(" ")[0] ?? "-"} ${other?.key.split(" ")[0] ?? "-"}`);
    assert.deepEqual(names(slow.children), ["accept accept", "validate -", "audit -"]);
    assert.deepEqual(names([]), ["- accept"]);
  });

  it("finds where they part: at the wait that only one has", () => {
    assert.equal(partingOf(slow, twin), 23);
    assert.equal(partingOf(twin, twin), undefined);
    // A part that takes 20 % longer is the same; one that takes 30 % longer is not.
    const like = (wall: number): Part => tree([call(0, "f", 0, 200), call(1, "g", 50, wall)]);
    assert.equal(partingOf(like(120), like(100)), undefined);
    assert.equal(partingOf(like(130), like(100)), 50);
  });

  it("lists differences that add up to both calls", () => {
    const rows = differencesOf(slow, twin);
    assert.deepEqual(rows.map(({ name, time, otherTime }) => [name, time, otherTime]), [["audit", 5107, 0], ["accept", 548, 28], ["validate", 11, 0], [undefined, 14, 3]]);
    assert.equal(rows.reduce((sum, { time }) => sum + time, 0), 5680);
    assert.equal(rows.reduce((sum, { otherTime }) => sum + otherTime, 0), 31);
    assert.deepEqual([rows[0]?.waiting, rows[1]?.waiting], [5100, 520]);
  });

  const waits = [{ from: 23, to: 543 }, { from: 573, to: 5673 }];
  it("folds long waits, and nothing while the other call runs", () => {
    const folds = foldsOf(5680, waits, runningIn(31, []), 800);
    assert.equal(folds.length, 2);
    for (const { from, to } of folds) assert.ok(from >= 31 && to > from && waits.some((each) => each.from <= from && to <= each.to), `${String(from)} to ${String(to)}`);
    // All of it runs in the other call.
    assert.deepEqual(foldsOf(5680, waits, runningIn(5680, []), 800), []);
    // A wait that is a small part of the call stays.
    assert.deepEqual(foldsOf(1000, [{ from: 0, to: 100 }], [], 800), []);
    // Both wait from 100 to 900.
    assert.equal(foldsOf(1000, [{ from: 100, to: 900 }], runningIn(1000, [{ from: 100, to: 900 }]), 800).length, 1);
  });

  it("places times in order over the whole width, with ticks outside of folds", () => {
    const axis = axisOf(5680, foldsOf(5680, waits, [], 800), 800);
    assert.equal(axis.place(0), 0);
    assert.ok(Math.abs(axis.place(5680) - 800) < 1e-9);
    for (let at = 0; at < 5680; at += 7) assert.ok(axis.place(at + 7) > axis.place(at));
    const { ticks } = timeTicks(axis, 800);
    assert.ok(ticks.length > 2);
    for (const tick of ticks) assert.ok(!axis.folds.some(({ from, to }) => tick > from && tick < to));
  });
});
