// A Go program under ptsim. How often each function is called follows from the program, and ptsim sees every call and
// return of each thread. Go schedules differently in each run: which receives wait is left open.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { helper, json, jsonLines, noteOf, output, root, run, simulator } from "./support.mjs";

const source = path.join(root, "test/samples/golang/traced.go");
const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";

function whyNot() {
  if (!existsSync(simulator)) return `${simulator} is not built`;
  return spawnSync("go", ["version"]).status === 0 ? false : "Go is not installed";
}

describe("goroutines in a trace", { skip: whyNot() }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-go-trace-"));
  const file = path.join(folder, "perf.data");
  after(() => rmSync(folder, { recursive: true, force: true }));
  let functions;

  before(() => {
    const program = path.join(folder, "traced");
    output("go", ["build", "-o", program, source], { env: { ...process.env, GO111MODULE: "off" } });
    const { status, stderr } = run(simulator, ["record", "-e", event, "--start-at", "main.main", "--stop-at", "main.finish", "-o", file, "--", program], { timeout: 120_000 });
    assert.equal(status, 0, stderr);
    ({ functions } = json(["functions", "--json", file]));
  });

  const calls = (name) => {
    const { complete, incomplete, unwound } = functions.find((row) => row.name === name);
    return { complete, incomplete, unwound, all: complete + incomplete + unwound };
  };

  test("each call is counted once, whether its goroutine waited in it or not", () => {
    assert.equal(calls("main.receive").all, 24);
    assert.equal(calls("runtime.chanrecv1").all, 27);
    assert.equal(calls("main.leaf").all, 24);
    assert.equal(calls("main.worker").all, 3);
    assert.equal(calls("main.guarded").all, 5);
  });

  test("a stack that grows in the middle of a call: its function begins again, in the same call", () => {
    const [goroutines, levels] = [5, 61];
    assert.equal(calls("main.descend").all, goroutines * levels);
    const list = jsonLines(output(helper, ["calls", "--function", "main.descend", "--json-lines", file])).sort((one, other) => one.start - other.start);
    // Go takes the CPU from a goroutine that has run for 10 ms, which ends its open calls: one after the other, not all goroutines lose it.
    const complete = Array.from({ length: goroutines }, (_, at) => list.slice(at * levels, (at + 1) * levels).filter(({ state }) => state === "complete").length);
    assert.ok(Math.max(...complete) > 50, complete.join(", "));
    assert.ok(calls("runtime.newstack").unwound > 0, "it grew");
  });

  test("a panic unwinds the functions that it passes through", () => {
    assert.equal(calls("main.risky").all, 15);
    assert.equal(calls("main.risky").complete, 0);
    assert.equal(calls("main.guarded").unwound, 0);
  });

  test("no call is complete that left its goroutine, and no complete call is invented", () => {
    assert.equal(calls("runtime.gopark").complete, 0);
    const truth = jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8")).filter(({ symbol, state }) => symbol === "main.receive" && state === "complete");
    const near = (one, other) => Math.abs(one - other) < 20; // ns
    const complete = jsonLines(output(helper, ["calls", "--function", "main.receive", "--json-lines", file])).filter(({ state }) => state === "complete");
    assert.equal(complete.length, calls("main.receive").complete);
    for (const { tid, start, latency } of complete) {
      assert.ok(
        truth.some((call) => call.tid === tid && near(call.start, start) && near(call.end, start + latency)),
        `thread ${tid} at ${start} for ${latency} ns`,
      );
    }
  });

  test("the report says why calls are incomplete", () => {
    const { recording } = json(["report", "--json", "--function", "main.receive", file]);
    assert.match(noteOf(recording, "goroutine_switches").text, /went on with another goroutine/);
  });
});
