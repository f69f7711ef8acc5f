import { strict as assert } from "node:assert";
import type { Selection } from "../../../extension/src/panel/panel-messages";
import { commandText } from "../../../webview/state/command";
import { changed, chipsOf, hasCaller, hasThread, isEverything, toggleCaller, toggleThread, undone, withPart, type History } from "../../../webview/state/selection";

const names = (tid: number): string => `worker-${String(tid)}`;
const texts = (selection: Selection): string[] => chipsOf(selection, names).map(({ text }) => text.replaceAll("\u00a0", " "));
const work = { function: "shop::worker_loop(int)@0x10", file: "/src/order_server.cpp", line: 177 };

describe("selection", () => {
  it("is one chip for each kind of condition", () => {
    const selection: Selection = {
      latency: [3_500_000, 6_500_000],
      time: [500_000_000, 1_000_000_000],
      tids: [4],
      callers: [work],
      calls: [{ function: "shop::write_audit()", least: 1 }, { function: "shop::validate_order()", least: 3 }],
      waited: [{ reason: "blocked" }],
    };
    assert.deepEqual(texts(selection), [
      "latency 3.5–6.5 ms",
      "at 500 ms–1 s",
      "thread worker-4",
      "called from worker_loop:177",
      "calls write_audit, calls validate_order 3 times or more",
      "blocked",
    ]);
  });
  it("names what is excluded", () => {
    assert.deepEqual(texts({ not_tids: [2], callers: [{ ...work, not: true }], calls: [{ function: "f", least: 0, most: 0 }], complement: true }), [
      "not on worker-2",
      "not from worker_loop:177",
      "without f",
      "all other calls",
    ]);
  });
  it("is everything without conditions", () => {
    assert.equal(isEverything({}), true);
    assert.equal(isEverything({ tids: [], complement: false }), true);
    assert.equal(isEverything({ tids: [1] }), false);
  });
  it("drops the condition of a chip and keeps the others", () => {
    const selection: Selection = { latency: [1, 2], tids: [1] };
    for (const { kind } of chipsOf(selection, names)) assert.equal(chipsOf(withPart(selection, kind, undefined), names).length, 1);
    assert.deepEqual(withPart(selection, "latency", undefined), { tids: [1] });
  });
  it("adds a thread with the first click and removes it with the second", () => {
    const one = toggleThread({}, 4);
    assert.deepEqual(one, { tids: [4] });
    assert.equal(hasThread(one, 4), true);
    assert.deepEqual(toggleThread(one, 5), { tids: [4, 5] });
    assert.deepEqual(toggleThread(one, 4), {});
    assert.deepEqual(toggleThread(one, 4, true), { not_tids: [4] }, "all others replaces the thread");
  });
  it("adds a caller, or excludes it", () => {
    const one = toggleCaller({ latency: [1, 2] }, work);
    assert.deepEqual(one, { latency: [1, 2], callers: [work] });
    assert.equal(hasCaller(one, work), true);
    assert.deepEqual(toggleCaller(one, work), { latency: [1, 2] });
    assert.deepEqual(toggleCaller(one, work, true), { latency: [1, 2], callers: [{ ...work, not: true }] });
    assert.equal(hasCaller(toggleCaller(one, work, true), work), false);
  });
});

describe("undo", () => {
  it("goes back through twenty selections", () => {
    let history: History = { present: {}, past: [] };
    for (let tid = 1; tid <= 25; tid += 1) history = changed(history, { tids: [tid] });
    for (let tid = 24; tid >= 5; tid -= 1) {
      history = undone(history);
      assert.deepEqual(history.present, { tids: [tid] });
    }
    assert.deepEqual(undone(history), history, "no further");
  });
  it("does not count the same selection twice", () => {
    const history = changed({ present: {}, past: [] }, { tids: [1] });
    assert.equal(changed(history, { tids: [1] }), history);
  });
});

describe("commandText", () => {
  it("quotes what a shell would change", () => {
    assert.equal(commandText(["ptlens", "calls", "/tmp/a b/perf.data", "--function", "f(int)", "--latency", "3500000,"]), "ptlens calls '/tmp/a b/perf.data' --function 'f(int)' --latency 3500000,");
    assert.equal(commandText(["it's"]), `'it'\\''s'`);
    assert.equal(commandText([""]), "''");
  });
});
