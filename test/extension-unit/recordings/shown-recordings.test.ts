import { strict as assert } from "node:assert";
import type { RecordingEntry } from "../../../extension/src/recordings/recording-entry";
import { alsoShown } from "../../../extension/src/recordings/shown-recordings";

const figures = { backend: "uprobe", trace_ns: 2e9, lost_ns: 0, lost_records: 0, gaps: 0, decode_errors: 0, threads: 2 } as const;
const measured = (key: string, functions: string[], more: Partial<RecordingEntry> = {}): RecordingEntry => ({
  key, path: `/r/${key}`, name: key, functions: functions.map((name) => ({ name, binary: "/bin/app", address: `0x${key.length.toString(16)}` })),
  target: "app", when: 0, figures, openedWith: {}, measuredWith: { pid: 7 }, ...more,
});
const keys = (active: RecordingEntry | undefined, others: RecordingEntry[]): string[] => alsoShown(active, others).map(({ key }) => key);

describe("the recordings that the source shows besides the active one", () => {
  const active = measured("g", ["g"]);

  it("are the newest of each function, at whatever address it was", () => {
    const older = [active, measured("f again", ["f"]), measured("old g", ["g"]), measured("f", ["f"]), measured("h and f", ["h", "f"])];
    assert.deepEqual(keys(active, older), ["f again", "h and f"]);
  });

  it("are none of another target, none that was opened, and none that is active", () => {
    const opened: RecordingEntry = { ...measured("opened", ["f"]) };
    delete (opened as { measuredWith?: unknown }).measuredWith;
    assert.deepEqual(keys(active, [measured("other", ["f"], { target: "another" }), opened, measured("g", ["f"])]), []);
  });

  it("are none beside a recording of all functions, one that was opened, or no recording", () => {
    const others = [measured("f", ["f"])];
    assert.deepEqual(keys(measured("all", []), others), []);
    assert.deepEqual(keys(undefined, others), []);
    const opened = { ...active };
    delete (opened as { measuredWith?: unknown }).measuredWith;
    assert.deepEqual(keys(opened, others), []);
  });

  it("are at most eight", () => {
    const many = Array.from({ length: 20 }, (_, index) => measured(`f${String(index)}`, [`f${String(index)}`]));
    assert.equal(keys(active, many).length, 8);
  });
});
