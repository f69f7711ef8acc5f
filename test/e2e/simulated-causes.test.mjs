// Simulated traces of programs whose slow calls have a known cause: the answer names it.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { expected, explain, record } from "./causes.mjs";
import { helper, json, output, root, simulator } from "./support.mjs";

const noSimulator = existsSync(simulator) ? false : `${simulator} is not built`;
const simulated = (recording, program) => [simulator, ["record", "-e", "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u", "--start-at", "main", "-o", recording, "--", ...program]];

const stepped = { calls: 100, every: 10, scale: 10 };

describe("a simulated trace", { skip: noSimulator }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const causes = ["count", "branch", "fsync", "two"];
  const recorded = {};
  before(() => {
    for (const cause of causes) recorded[cause] = record(mkdtempSync(path.join(folder, cause)), cause, stepped, simulated);
  });

  for (const cause of causes) test(cause, () => expected[cause](explain(recorded[cause]), recorded[cause], stepped));

  // What the source says: the branch, and where each side of it goes on.
  const source = readFileSync(path.join(root, "test/samples/causes/causes.c"), "utf8").split("\n");
  const lineOf = (function_, text) => source.findIndex((line, at) => line.includes(text) && at > source.findIndex((each) => each.includes(`OWN void ${function_}(`))) + 1;
  for (const [cause, function_, branch, sides] of [
    ["branch", "pay_parts", "if (slow)", ["for (int i = 0; i < scale", "sum += 1;"]],
    ["count", "work", "for (int i = 0; i < (slow ? 10", undefined],
    ["fsync", "work", "if (slow) write_log", undefined],
  ]) {
    test(`the branch at which a slow call and its twin part: ${cause}`, () => {
      const { recording, slow, list } = recorded[cause];
      const call = list[slow[0][1]];
      const options = ["--function", "work", "--call", `${call.tid}:${call.start}`, recording];
      const { parting } = json(["timeline", "--json", ...options]).timeline.twin;
      assert.deepEqual([parting.function, path.basename(parting.file), parting.line], [function_, "causes.c", lineOf(function_, branch)]);
      if (sides !== undefined) assert.deepEqual([parting.call.line, parting.twin.line], sides.map((text) => lineOf(function_, text)));
      assert.match(output(helper, ["timeline", ...options]), new RegExp(`They part at a branch in .*${function_}.*causes\\.c:${parting.line}`));
    });
  }

  test("two calls that take the same branches do not part", () => {
    const { recording, slow, list } = recorded.branch;
    const typical = list.filter((_, number) => !slow[0].includes(number));
    const call = typical[3];
    const { twin } = json(["timeline", "--json", "--function", "work", "--call", `${call.tid}:${call.start}`, recording]).timeline;
    assert.equal(twin.parting, null);
  });
});
