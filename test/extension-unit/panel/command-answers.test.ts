import { strict as assert } from "node:assert";
import { changesFrom, waitsFrom } from "../../../extension/src/panel/command-answers";

describe("answers of the command line", () => {
  const judged = { base_ns: 200, recording_ns: 100, difference_ns: -100, low_ns: -110, high_ns: -90, percent: -50, low_percent: -55, high_percent: -45, verdict: "faster", reason: null };
  const changed = { name: "f(int)", binary: "/bin/a", address: "0x10", base: { calls: { complete: 7 } }, recording: { calls: { complete: 8 } }, difference: { mean: judged, p99: { ...judged, verdict: "cannot_tell" } } };

  it("reads what changed", () => {
    const { functions, notes, command } = changesFrom({ functions: [changed], notes: [{ code: "one_run", text: "One run a side." }] }, ["ptlens", "diff"]);
    const [only, ...others] = functions;
    assert.equal(others.length, 0);
    assert.deepEqual([only?.name, only?.address, only?.baseCalls, only?.nowCalls], ["f(int)", "0x10", 7, 8]);
    assert.deepEqual(only?.mean, { base: 200, now: 100, percent: -50, lowPercent: -55, highPercent: -45, verdict: "faster" });
    assert.equal(only.p99.verdict, "cannot_tell");
    assert.deepEqual(notes, ["One run a side."]);
    assert.deepEqual(command, ["ptlens", "diff"]);
  });
  it("leaves out what it does not know", () => {
    assert.deepEqual(changesFrom({ functions: [{ ...changed, difference: { mean: "changed", p99: "changed" } }, 3] }, []).functions, []);
    assert.deepEqual(changesFrom(null, []), { functions: [], notes: [], command: [] });
  });
  it("reads what calls waited for", () => {
    const row = { reason: "lock", intervals: 3, calls: 2, total: 640, max: 520, function: "reserve_stock", file: "/a.cpp", line: 139, called: "pthread_mutex_lock", lock: "stock", likely: true, wakers: [{ text: "by restock", total: 600, file: "/b.cpp", line: 201 }] };
    const waits = waitsFrom({ waits: { total: 640, waiting_calls: 2, recorded: true, reasons: [{ reason: "lock" }], rows: [row] } });
    assert.deepEqual([waits.total, waits.waitingCalls, waits.recorded, waits.reasons], [640, 2, true, ["lock"]]);
    const [only] = waits.rows;
    assert.deepEqual([only?.reason, only?.longest, only?.function, only?.lock, only?.likely], ["lock", 520, "reserve_stock", "stock", true]);
    assert.deepEqual(only?.wakers, [{ text: "by restock", total: 600, file: "/b.cpp", line: 201 }]);
    assert.deepEqual(waitsFrom(undefined), { total: 0, waitingCalls: 0, recorded: false, reasons: [], rows: [] });
  });
});
