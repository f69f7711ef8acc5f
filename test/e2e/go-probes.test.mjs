// Go programs measured with probes. The programs know how often they call the measured function, and
// each call's latency lies between two of their own clocks: one inside the call and one around it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, helper, json, jsonLines, noProbes, noteOf, output, probesOf, probesWithoutBudget, ptlens, root, temporaryFolder } from "./support.mjs";

const source = path.join(root, "test/samples/golang/goroutines.go");
const skip = noProbes || (spawnSync("go", ["version"]).status === 0 ? false : "Go is not installed");

function compile(t, ...flags) {
  const program = path.join(temporaryFolder(t), "goroutines");
  output("go", ["build", "-o", program, ...flags, source], { env: { ...process.env, GOFLAGS: "-mod=mod", GO111MODULE: "off" } });
  return program;
}

// Records the program from its start to its end. Returns the recording, and what the program printed.
async function record(t, name, mode, program = compile(t)) {
  const folder = path.join(temporaryFolder(t), "recording");
  const results = path.join(temporaryFolder(t), "results");
  const recorder = background(t, helper, ["record", ...probesWithoutBudget, "--function", name, "-o", folder, "--", program, ...mode.split(" ")], {
    env: { ...process.env, RESULTS: results },
  });
  const { status, stderr } = await recorder.closed;
  assert.equal(status, 0, stderr);
  assert.deepEqual(probesOf(recorder.child.pid), [], "no probe is left");
  const lines = readFileSync(results, "utf8").split("\n").map((line) => line.split(" "));
  const spans = lines.filter(([word]) => word === "span").map(([, inner, outer]) => ({ inner: Number(inner), outer: Number(outer) }));
  const counts = Object.fromEntries(lines.filter((words) => words.length === 2 && /^\d+$/.test(words[1])).map(([word, value]) => [word, Number(value)]));
  return { folder, spans, counts };
}

const report = (folder, name) => json(["report", "--json", "--function", name, folder]);
const calls = (folder, name) => jsonLines(output(helper, ["calls", "--function", name, "--json-lines", folder]));
const ascending = (values) => [...values].sort((one, other) => one - other);

// The program's clocks contain the time of the probes, as raw latencies do. Both count ns; perf's may run faster or slower than Go's by less than a thousandth.
function between(latencies, spans) {
  const inner = ascending(spans.map((span) => span.inner));
  const outer = ascending(spans.map((span) => span.outer));
  ascending(latencies).forEach((latency, rank) => {
    assert.ok(latency * 1.001 + 1000 >= inner[rank], `rank ${rank}: ${latency} ns, inside ${inner[rank]} ns`);
    assert.ok(latency <= outer[rank] * 1.001 + 1000, `rank ${rank}: ${latency} ns, around ${outer[rank]} ns`);
  });
}

test("a receive that waits is one complete call, on whichever thread it ends", { skip }, async (t) => {
  const { folder, spans } = await record(t, "main.receive", "channel 4 25 2000");
  const answer = report(folder, "main.receive");
  assert.deepEqual(answer.calls, { complete: 100, incomplete: 0, unwound: 0 });
  between(calls(folder, "main.receive").map(({ raw_latency }) => raw_latency), spans);
  // The sender waits 2 ms before each of 100 values, and 4 goroutines take turns.
  assert.ok(answer.latency.total >= 100 * 2_000_000, `total ${answer.latency.total} ns`);
  assert.equal(answer.recording.off_cpu_known, false, "a goroutine's wait is not its thread's");
  assert.ok(noteOf(answer.recording, "goroutines_off_cpu"));
  const tids = answer.threads.map(({ tid }) => tid);
  assert.equal(new Set(tids).size, tids.length, "each thread is listed once");
  assert.equal(answer.threads.reduce((sum, row) => sum + row.calls, 0), 100);
});

test("300 goroutines that wait at once: all calls, one row for each thread", { skip }, async (t) => {
  const { folder, spans } = await record(t, "main.receive", "channel 300 2 100");
  const answer = report(folder, "main.receive");
  assert.deepEqual(answer.calls, { complete: 600, incomplete: 0, unwound: 0 });
  between(calls(folder, "main.receive").map(({ raw_latency }) => raw_latency), spans);
  assert.ok(answer.threads.length < 50, `${answer.threads.length} threads`);
  assert.equal(answer.recording.threads, answer.recording.thread_list.length);
});

test("a pool of workers whose jobs yield and wait in their midst, in a method of a generic type", { skip }, async (t) => {
  const { folder, spans } = await record(t, "main.(*Job[go.shape.int]).work", "pool 8 50");
  const answer = report(folder, "main.(*Job[go.shape.int]).work");
  assert.deepEqual(answer.calls, { complete: 400, incomplete: 0, unwound: 0 });
  between(calls(folder, "main.(*Job[go.shape.int]).work").map(({ raw_latency }) => raw_latency), spans);
});

test("a stack that grows and moves inside a call", { skip }, async (t) => {
  const { folder, spans, counts } = await record(t, "main.descend", "depth 20 2000");
  const answer = report(folder, "main.descend");
  assert.deepEqual(answer.calls, { complete: counts.descend, incomplete: 0, unwound: 0 });
  const outermost = calls(folder, "main.descend").filter(({ caller }) => !/descend$/.test(caller));
  assert.equal(outermost.length, 20);
  between(outermost.map(({ raw_latency }) => raw_latency), spans);
});

test("a panic leaves the function that panicked unwound, and its recovering caller complete", { skip }, async (t) => {
  const { folder, counts } = await record(t, "main.guarded", "panics 100");
  assert.deepEqual(counts, { guarded: 100, rejected: 20 });
  assert.deepEqual(report(folder, "main.guarded").calls, { complete: 100, incomplete: 0, unwound: 0 });
  assert.deepEqual(report(folder, "main.risky").calls, { complete: 80, incomplete: 0, unwound: 20 });
});

test("runtime.Goexit ends calls, and the next goroutine in the same descriptor is another one", { skip }, async (t) => {
  const { folder } = await record(t, "main.abandon", "exits 50");
  assert.deepEqual(report(folder, "main.abandon").calls, { complete: 25, incomplete: 0, unwound: 25 });
  for (const { latency } of calls(folder, "main.abandon")) {
    assert.ok(latency < 200_000_000, `${latency} ns: open until the end of the program`);
  }
});

test("goroutines that the scheduler stops, at their loops and where they check their stack", { skip }, async (t) => {
  const { folder, spans } = await record(t, "main.busy", "preempted 4 4");
  const { calls: counted } = report(folder, "main.busy");
  assert.deepEqual(counted, { complete: 16, incomplete: 0, unwound: 0 });
  assert.deepEqual(report(folder, "main.step").calls, { complete: 32_000, incomplete: 0, unwound: 0 });
  const own = calls(folder, "main.busy").map(({ raw_latency }) => raw_latency);
  between(own, spans);
});

test("a binary without what it takes to follow goroutines is refused, with the reason", { skip }, (t) => {
  const program = compile(t, "-ldflags=-w");
  const folder = path.join(temporaryFolder(t), "recording");
  const { status, stderr } = ptlens(["record", "--backend", "uprobe", "--function", "main.receive", "-o", folder, "--", program, "channel", "1", "1", "10"]);
  assert.equal(status, 1);
  assert.match(stderr, /goroutines move between threads/);
  assert.match(stderr, /build it without -ldflags=-w/);
});
