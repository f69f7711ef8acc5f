import { strict as assert } from "node:assert";
import { defaultName, entryOf, isLossy, stateFromJson, stateToJson, type SessionState, type RecordingEntry } from "../../../extension/src/recordings/recording-entry";

const figures = { backend: "uprobe", trace_ns: 2e9, lost_ns: 0, lost_records: 0, gaps: 0, decode_errors: 0, threads: 2 } as const;

const entry: RecordingEntry = {
  key: "k1",
  path: "/r/one",
  name: "before",
  functions: [{ name: "f(int)", binary: "/bin/app", address: "0x10" }],
  target: "app",
  when: 1_700_000_000_000,
  figures,
  openedWith: { symfs: "/s", pid: 7 },
  measuredWith: { pid: 7, duration: 2 },
};
const plain: RecordingEntry = { key: "k2", path: "/r/two", name: "two", functions: [], target: "", when: 0, figures, openedWith: {} };

describe("the stored state of recordings", () => {
  it("survives a round trip through JSON", () => {
    const state: SessionState = { recordings: [entry, plain], active: "k1", baseline: "k2" };
    assert.deepEqual(stateFromJson(JSON.parse(JSON.stringify(stateToJson(state)))), state);
  });

  it("keeps how many binaries have no code, which counts as a loss", () => {
    const without = { ...figures, without_code: 3 };
    const [read] = stateFromJson(stateToJson({ recordings: [{ ...plain, figures: without }], active: undefined, baseline: undefined })).recordings;
    assert.deepEqual(read?.figures, without);
    assert.ok(isLossy(without) && !isLossy(figures));
  });

  it("does not contain the open recording", () => {
    assert.deepEqual(entryOf({ ...plain, open: { id: "3" }, missing: false } as RecordingEntry), plain);
    assert.deepEqual(entryOf(entry), entry);
  });

  for (const stored of [undefined, null, 3, "x", [], {}, { recordings: 7 }, { recordings: [null, 4, {}, { key: "k", path: "" }] }]) {
    it(`is empty after reading ${JSON.stringify(stored)}`, () => {
      assert.deepEqual(stateFromJson(stored), { recordings: [], active: undefined, baseline: undefined });
    });
  }

  it("skips what it does not understand and reads the rest", () => {
    const odd = { key: "k3", path: "/a/b/perf.data", figures: { backend: "uprobe", trace_ns: "many" }, functions: [{ name: 4 }, { name: "g" }], openedWith: { pid: "7" } };
    const { recordings } = stateFromJson({ recordings: [odd, { ...plain, figures: { backend: "other" } }] });
    assert.deepEqual(recordings, [
      { key: "k3", path: "/a/b/perf.data", name: "b", functions: [{ name: "g" }], target: "", when: 0, figures: { ...figures, trace_ns: 0, threads: 0 }, openedWith: {} },
    ]);
  });

  it("has no active recording that is not on the list, and no baseline that is active", () => {
    const state = stateFromJson({ recordings: [plain], active: "k2", baseline: "k2" });
    assert.equal(state.active, "k2");
    assert.equal(state.baseline, undefined);
    assert.equal(stateFromJson({ recordings: [plain], active: "k9" }).active, undefined);
  });
});

describe("the name of a recording", () => {
  const named = (path: string, ...functions: string[]): string => defaultName(path, { functions: functions.map((name) => ({ name })), target: "app" });
  it("is the name of the function without parameters", () => {
    assert.equal(named("/r", "ns::f<int>(int, char)"), "ns::f<int>");
    assert.equal(named("/r", "operator()(int) const"), "operator()");
    assert.equal(named("/r", "f"), "f");
  });
  it("says how many more functions there are", () => {
    assert.equal(named("/r", "f", "g", "h"), "f + 2");
  });
  it("is that of the target without a function, and that of the folder without both", () => {
    assert.equal(named("/r"), "app");
    assert.equal(defaultName("/r/slow/perf.data", {}), "slow");
    assert.equal(defaultName("/r/slow/", {}), "slow");
    assert.equal(defaultName("/r/slow.ptlens", {}), "slow.ptlens");
  });
});

describe("loss", () => {
  it("is lost time, lost records or decode errors", () => {
    assert.equal(isLossy(figures), false);
    for (const field of ["lost_ns", "lost_records", "decode_errors"]) assert.equal(isLossy({ ...figures, [field]: 1 }), true, field);
  });
});
