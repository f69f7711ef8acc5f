import { strict as assert } from "node:assert";
import { partsToTell, partWords, type CallPart } from "../../../webview/calls/longest-parts";

const part = (values: Partial<CallPart>): CallPart => ({ kind: "self", name: "", calls: 0, time: 0, off_cpu: 0, ...values });
const text = (values: Partial<CallPart>, selfKnown = true): string =>
  partWords(part(values), selfKnown).map((word) => (typeof word === "string" ? word : `\`${word.code}\``)).join("").replaceAll("\u00a0", " ");

describe("the longest parts of a call", () => {
  it("names a function, how often it ran and how long", () => {
    assert.equal(text({ kind: "call", name: "shop::lookup(int)", calls: 9, time: 30_000 }), "`lookup` 9 ×, 30.0 µs");
    assert.equal(text({ kind: "call", name: "shop::lookup(int)", calls: 1, time: 30_000, off_cpu: 14_999 }), "`lookup`, 30.0 µs");
  });
  it("says how long a function waited that did little else", () => {
    assert.equal(text({ kind: "call", name: "write_audit()", calls: 1, time: 5_200_000, off_cpu: 5_110_000 }), "waits in `write_audit`, 5.11 ms");
  });
  it("says why the call itself waited, and whether that is inferred", () => {
    assert.equal(text({ kind: "blocked", time: 520_000, off_cpu: 520_000, reason: "lock", likely: false }), "lock wait, 520 µs");
    assert.equal(text({ kind: "blocked", time: 520_000, off_cpu: 520_000, reason: "lock", likely: true }), "likely lock wait, 520 µs");
    assert.equal(text({ kind: "blocked", time: 520_000, off_cpu: 520_000, reason: "unknown" }), "waits, 520 µs");
    assert.equal(text({ kind: "blocked", time: 520_000, off_cpu: 520_000 }), "waits, 520 µs");
    assert.equal(text({ kind: "preempted", time: 60_000, off_cpu: 60_000 }), "preempted, 60.0 µs");
  });
  it("does not take unmeasured calls for own instructions", () => {
    assert.equal(text({ time: 4_000 }), "its own instructions, 4.00 µs");
    assert.equal(text({ time: 4_000 }, false), "everything else, 4.00 µs");
  });
  it("leaves out what is under a two-hundredth of the call, unless it is the longest", () => {
    const parts = [part({ time: 900 }), part({ time: 5 }), part({ time: 4 })];
    assert.deepEqual(partsToTell(parts, 1000).map(({ time }) => time), [900, 5]);
    assert.equal(partsToTell([part({ time: 1 })], 1000).length, 1);
  });
});
