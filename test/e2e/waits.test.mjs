// What threads waited for, and who woke them: a program whose waits are made on purpose (test/samples/waits.c), measured live.
// The kernel's own accounts of its thread, which the program writes, say how long and how often it waited.
import assert from "node:assert/strict";
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { before, describe, test } from "node:test";
import { background, helper, json, jsonLines, noProbes, noteOf, output, probesWithoutBudget, root, rpc } from "./support.mjs";

function whyNoTracepoints() {
  try {
    accessSync("/sys/kernel/tracing/events/sched/sched_waking/id", constants.R_OK);
    return false;
  } catch {
    return "the scheduler's tracepoints cannot be read";
  }
}

const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-waits-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const program = path.join(folder, "waits");
const source = path.join(root, "test/samples/waits.c");
const lineOf = (function_, text) => {
  const lines = readFileSync(source, "utf8").split("\n");
  const start = lines.findIndex((line) => line.includes(` ${function_}(void) {`));
  return lines.findIndex((line, index) => index > start && line.includes(text)) + 1;
};

const reasons = { lock_table: "lock", take_item: "lock", read_pipe: "pipe", nap: "sleep", save: "disk", await_events: "poll", compute: "preempted" };

function record(name, options = []) {
  const recording = path.join(folder, name);
  const truth = path.join(folder, `${name}.json`);
  const functions = [...Object.keys(reasons), "serve"].flatMap((function_) => ["--function", function_]);
  output(helper, ["record", ...probesWithoutBudget, ...functions, ...options, "-o", recording, "--", program, path.join(folder, "data"), truth]);
  return { recording, truth: JSON.parse(readFileSync(truth, "utf8")) };
}

const waitsOf = (recording, function_) => json(["waits", "--json", "--function", function_, recording]).waits;
const intervalsOf = ({ reasons: rows }, accept) => rows.filter(({ reason }) => accept(reason)).reduce((sum, { intervals }) => sum + intervals, 0);
const mainRow = ({ rows }, reason) => rows.find((row) => row.reason === reason);

describe("waits with probes and tracepoints", { skip: noProbes || whyNoTracepoints() }, () => {
  let recorded;
  before(() => {
    output("gcc", ["-O2", "-g", "-pthread", "-o", program, source]);
    recorded = record("recording");
  });

  for (const [name, reason] of Object.entries(reasons)) {
    test(`${name} waits for: ${reason}`, (t) => {
      const truth = recorded.truth[name];
      const waits = waitsOf(recorded.recording, name);
      t.diagnostic(`off-CPU ${waits.total} ns; the kernel's clocks say ${truth.off_ns} ns`);
      assert.equal(waits.recorded, true);
      // A page of code or data may be missing at first.
      const chosen = intervalsOf(waits, (each) => each !== "preempted" && each !== "page_fault");
      assert.ok(chosen + intervalsOf(waits, (each) => each === "page_fault") === truth.gave_up, `${chosen} waits, the kernel counted ${truth.gave_up}`);
      assert.ok(intervalsOf(waits, (each) => each === "preempted") <= truth.lost, `the kernel counted ${truth.lost} preemptions`);
      const total = reason === "preempted" ? truth.lost : truth.gave_up;
      assert.ok(intervalsOf(waits, (each) => each === reason) >= 0.9 * total, JSON.stringify(waits.reasons));
      // The clocks are read outside the function, where the thread can lose its CPU too.
      assert.ok(waits.total <= truth.off_ns * 1.02 + 200_000 * recorded.truth.rounds, `${waits.total} of ${truth.off_ns} ns`);
      // The clock of the thread leaves out what interrupts and the host of a virtual machine take, which a disk makes work.
      const least = reason === "disk" ? 0.3 : 0.9;
      if (truth.lost === 0) assert.ok(waits.total >= truth.off_ns * least, `${waits.total} of ${truth.off_ns} ns`);
    });
  }

  test("the lock, the line that waits for it, and the function that held it are named", () => {
    const row = mainRow(waitsOf(recorded.recording, "lock_table"), "lock");
    assert.deepEqual([row.lock, row.function, path.basename(row.file), row.line, row.called], ["mutex", "lock_table", "waits.c", lineOf("lock_table", "pthread_mutex_lock"), "pthread_mutex_lock"]);
    const [waker] = row.wakers;
    assert.deepEqual([waker.kind, waker.thread, waker.function, waker.line, waker.likely], ["thread", "rebalance", "restock_all", lineOf("restock_all", "pthread_mutex_unlock"), false]);
    assert.equal(waker.intervals, row.intervals);
    assert.ok(row.p50 >= 4_000_000, "the lock is held for 5 ms");
  });

  test("a condition variable is not taken for a mutex, and the thread that signals it is named", () => {
    const { rows } = waitsOf(recorded.recording, "take_item");
    const row = rows.find(({ lock }) => lock === "condition");
    assert.deepEqual([row.function, row.line], ["take_item", lineOf("take_item", "pthread_cond_wait")]);
    assert.deepEqual([row.wakers[0].thread, row.wakers[0].function], ["rebalance", "deliver"]);
  });

  test("the writer of a pipe is named", () => {
    const row = mainRow(waitsOf(recorded.recording, "read_pipe"), "pipe");
    assert.deepEqual([row.function, row.wakers[0].thread, row.wakers[0].function], ["read_pipe", "rebalance", "feed"]);
  });

  test("the report in text names the holder", () => {
    const text = output(helper, ["waits", "--function", "lock_table", recorded.recording]);
    assert.match(text, /held by thread `rebalance` in `restock_all` \(waits\.c:\d+\)/);
  });

  test("a selection narrows the waits, and waits of the whole recording need no function", () => {
    const all = json(["waits", "--json", "--tid", String(recorded.truth.tid), recorded.recording]).waits;
    const known = new Set(all.rows.map(({ function: name }) => name));
    for (const name of Object.keys(reasons)) assert.ok(known.has(name), name);
    const none = json(["waits", "--json", "--function", "nap", "--latency", ",1ms", recorded.recording]).waits;
    assert.deepEqual([none.calls, none.intervals], [0, 0]);
  });

  test("a selection by reason takes the calls whose own time line has such waits", () => {
    const { recording } = recorded;
    const reasonsOf = (call, function_) => {
      const { waits } = json(["timeline", "--json", "--function", function_, "--call", `${call.tid}:${call.start}`, recording]).timeline;
      const times = new Map();
      for (const { reason, duration } of waits) times.set(reason, (times.get(reason) ?? 0) + duration);
      return times;
    };
    let selected = 0;
    for (const function_ of ["lock_table", "nap", "save"]) {
      const calls = jsonLines(output(helper, ["calls", "--json-lines", "--function", function_, "--state", "complete", recording]));
      const waited = calls.map((call) => reasonsOf(call, function_));
      const seen = new Set(waited.flatMap((times) => [...times.keys()]));
      for (const reason of [...seen, "network"]) {
        for (const least of [1, 3_500_000]) {
          const expected = calls.filter((_, at) => (waited[at].get(reason) ?? 0) >= least).map(({ start }) => start);
          for (const complement of [false, true]) {
            const options = ["--waited", `${reason},${least}ns`, "--state", "complete", ...(complement ? ["--complement"] : [])];
            const found = jsonLines(output(helper, ["calls", "--json-lines", "--function", function_, ...options, recording])).map(({ start }) => start);
            const wanted = complement ? calls.map(({ start }) => start).filter((start) => !expected.includes(start)) : expected;
            assert.deepEqual(found, wanted, `${function_} ${options.join(" ")}`);
            selected += found.length;
          }
          const { calls: counted } = json(["waits", "--json", "--function", function_, "--waited", `${reason},${least}ns`, recording]).waits;
          assert.equal(counted, expected.length);
        }
      }
    }
    assert.ok(selected > 100);
  });

  test("the server selects by reason as the command line does", async (t) => {
    const ask = rpc(background(t, helper, ["serve", "--stdio"]));
    await ask("initialize", { processId: null, rootUri: null, capabilities: {} });
    const { recording } = await ask("ptlens/open", { path: recorded.recording });
    const page = await ask("ptlens/calls", { id: recording.id, function: { name: "lock_table" }, selection: { waited: [{ reason: "lock", least: 1_000_000 }] } });
    assert.ok(page.total > 0);
    assert.ok(page.command.includes("--waited"));
    assert.equal(jsonLines(output(helper, page.command.slice(1))).length, page.total);
  });

  test("explain names the lock, the line, the thread that held it, and its function", () => {
    const { explain } = json(["explain", "--json", "--function", "serve", "--slow", ">15ms", recorded.recording]);
    assert.equal(explain.slow.calls, 4);
    const { wait, share } = explain.components[0];
    assert.ok(share > 0.9);
    assert.deepEqual([wait.reason, wait.lock, wait.function, wait.line], ["lock", "mutex", "serve", lineOf("serve", "pthread_mutex_lock")]);
    assert.deepEqual([wait.wakers[0].thread, wait.wakers[0].function, wait.intervals], ["rebalance", "count_stock", 4]);
    const line = lineOf("count_stock", "pthread_mutex_unlock");
    assert.ok(explain.sentence.includes(`waiting for a lock in \`serve\` (waits.c:${wait.line}), held by thread \`rebalance\` in \`count_stock\` (waits.c:${line})`), explain.sentence);
    assert.match(explain.main_cause, /^\d+ % of that: .*waiting for a lock in `serve`$/);
    assert.ok(explain.sentence.includes(explain.main_cause));
  });

  test("the time line of the slow call shows the lock and, beside it, a typical call without the wait", () => {
    const slow = json(["explain", "--json", "--function", "serve", "--slow", ">15ms", recorded.recording]).explain.components[0].example;
    const named = ["--function", "serve", "--call", `${slow.tid}:${slow.start}`, recorded.recording];
    const { timeline } = json(["timeline", "--json", ...named]);
    assert.deepEqual([timeline.tid, timeline.start, timeline.calls[0].function], [slow.tid, slow.start, "serve"]);
    const wait = timeline.waits.find(({ reason }) => reason === "lock");
    assert.ok(wait.duration >= 15_000_000 && wait.start >= 0 && wait.start + wait.duration <= timeline.wall);
    assert.deepEqual([wait.waker.thread, wait.waker.function], ["rebalance", "count_stock"]);
    assert.ok(wait.woken <= wait.start + wait.duration, "woken before it ran again");
    assert.ok(timeline.twin.latency < 3_000_000 && timeline.twin.same_caller);
    const parted = timeline.twin.calls[timeline.twin.largest_difference];
    assert.deepEqual([parted.function, parted.line], ["pthread_mutex_lock", lineOf("serve", "pthread_mutex_lock")]);
    assert.match(output(helper, ["timeline", ...named]), /waiting for a lock in `serve`[^]*the largest difference/);
  });

  test("without the tracepoints, the functions that were called give the likely reasons", () => {
    const { recording, truth } = record("without", ["--no-waits"]);
    const waits = waitsOf(recording, "lock_table");
    assert.equal(waits.recorded, false);
    const row = mainRow(waits, "lock");
    assert.deepEqual([row.likely, row.function, row.called], [true, "lock_table", "pthread_mutex_lock"]);
    assert.ok(row.intervals >= 0.9 * truth.lock_table.gave_up);
    assert.match(output(helper, ["waits", "--function", "lock_table", recording]), /likely/);
    const stacks = output(helper, ["flame", "--function", "lock_table", "--waits", recording]).split("\n");
    const leaves = stacks.filter((stack) => /;\[likely waiting: lock\] \d+$/.test(stack));
    const time = leaves.reduce((sum, stack) => sum + Number(stack.slice(stack.lastIndexOf(" "))), 0);
    // The graph is without the time of the probes, which can end a call before its wait does.
    const { total } = waits.reasons.find(({ reason }) => reason === "lock");
    assert.ok(time <= total && time > 0.99 * total, `${time} of ${total} ns`);
    const manifest = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
    assert.equal(noteOf(manifest, "waits_not_recorded"), undefined);
  });
});
