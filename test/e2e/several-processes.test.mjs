// Recordings of several processes whose threads change processors: every call of every thread against
// the stepped truth and the program's arithmetic, on buffers of CPUs and of threads.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { background, helper, json, jsonLines, noPerf, noteOf, output, root, run, simulator, temporaryFolder, until } from "./support.mjs";

const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";
const rounding = 2; // ns: each of two times is a whole number
const compiler = process.env.CC ?? "gcc";

function whyNot() {
  if (noPerf) return noPerf;
  if (!existsSync(simulator)) return `${simulator} is not built`;
  return run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run`;
}

function compile(folder) {
  const program = path.join(folder, "several");
  output(compiler, ["-O2", "-g", "-pthread", "-o", program, path.join(root, "test/samples/several.c")]);
  return program;
}

// "pid tid items" of each thread, as the program prints them.
const threadsOf = (text) =>
  text.split("\n").map((line) => /^(\d+) (\d+) (\d+)$/.exec(line)).filter(Boolean)
    .map(([, pid, tid, items]) => ({ pid: Number(pid), tid: Number(tid), items: Number(items) }));

function record(t, options) {
  const folder = temporaryFolder(t);
  const file = path.join(folder, "perf.data");
  const printed = output(simulator,
    ["record", "-e", event, "--start-at", "main", "--slice", "4000", ...options, "-o", file, "--", compile(folder)]);
  return { file, threads: threadsOf(printed) };
}

const truthOf = (file) => jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8")).filter((row) => row.function !== undefined);
const callsOf = (file, name, ...selection) => jsonLines(output(helper, ["calls", "--json-lines", "--function", name, ...selection, file]));
const inOrder = (one, other) => one.tid - other.tid || one.start - other.start;

// Each thread's calls of item() and part(): how many, when, how long, how long switched out.
function checkCalls(file, threads) {
  const truth = truthOf(file);
  for (const [name, each] of [["item", 1], ["part", 2]]) {
    const calls = callsOf(file, name).sort(inOrder);
    const exact = truth.filter(({ symbol }) => symbol === name).sort(inOrder);
    for (const { tid, items } of threads) assert.equal(exact.filter((row) => row.tid === tid).length, each * items, `${name} in ${tid}, by the truth`);
    assert.deepEqual(calls.map(({ tid, state }) => `${tid} ${state}`), exact.map(({ tid, state }) => `${tid} ${state}`), name);
    for (const [index, call] of calls.entries()) {
      const row = exact[index];
      assert.ok(Math.abs(call.start - row.start) <= call.resolution + rounding, `${name} ${index} begins at ${call.start}, not ${row.start}`);
      assert.ok(Math.abs(call.latency - (row.end - row.start)) <= 2 * (call.resolution + rounding), `${name} ${index} takes ${call.latency} ns, not ${row.end - row.start}`);
      assert.ok(Math.abs(call.off_cpu - row.off_cpu) <= call.resolution + rounding, `${name} ${index} is off-CPU for ${call.off_cpu} ns, not ${row.off_cpu}`);
    }
  }
}

const sum = (rows, of) => rows.reduce((total, row) => total + of(row), 0);

describe("a recording of several processes", { skip: whyNot() }, () => {
  for (const options of [["-a"], ["-a", "--cpus", "1", "--seed", "2"], ["-a", "--cpus", "4", "--seed", "3"], ["--seed", "4"], ["--unprivileged", "--seed", "5"], ["-C", "0,1", "--seed", "6"]]) {
    test(`${options.join(" ")}: every call of each thread`, (t) => {
      const { file, threads } = record(t, options);
      assert.equal(threads.length, 6);
      assert.doesNotMatch(run("perf", ["script", "-f", "-i", file, "--itrace=e"]).stdout, /instruction trace error/);
      checkCalls(file, threads);
      const { recording, functions } = json(["functions", "--json", file]);
      assert.deepEqual([recording.gaps, recording.decode_errors, recording.threads], [0, 0, 6]);
      const [item] = functions.filter(({ name }) => name === "item");
      assert.deepEqual([item.complete, item.incomplete, item.unwound], [sum(threads, ({ items }) => items), 0, 0]);
      assert.equal(sum(functions, ({ self }) => self), sum(recording.thread_list, ({ trace_ns: traced }) => traced));
      const verdict = json(["verify", "--json", file]);
      assert.deepEqual([verdict.difference, verdict.given_up], [null, 0]);
      const [again] = json(["functions", "--json", "--decoder", "libipt", file]).functions.filter(({ name }) => name === "item");
      assert.deepEqual([again.complete, again.incomplete, again.unwound], [item.complete, item.incomplete, item.unwound]);
    });
  }

  test("one process of all: its calls alone, none lost to the others", (t) => {
    const { file, threads } = record(t, ["-a", "--seed", "7"]);
    const pids = [...new Set(threads.map(({ pid }) => pid))];
    assert.equal(pids.length, 3);
    for (const pid of pids) {
      const own = threads.filter((thread) => thread.pid === pid);
      const { recording, functions } = json(["functions", "--json", "--pid", String(pid), file]);
      assert.deepEqual(recording.thread_list.map(({ tid }) => tid).sort(), own.map(({ tid }) => tid).sort());
      assert.deepEqual([recording.gaps, recording.decode_errors], [0, 0]);
      const [part] = functions.filter(({ name }) => name === "part");
      assert.deepEqual([part.complete, part.incomplete, part.unwound], [2 * sum(own, ({ items }) => items), 0, 0]);
      const report = json(["report", "--json", "--function", "item", "--pid", String(pid), file]);
      for (const { tid, items } of own) assert.equal(report.threads.find((row) => row.tid === tid).calls, items);
    }
  });

  test("one processor of two: what a thread did on the other is missing, and said to be", (t) => {
    const { file, threads } = record(t, ["-C", "1", "--all-records", "--seed", "8"]);
    const rows = jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8"));
    const missing = rows.filter((row) => row.lost !== undefined);
    const whole = rows.filter((row) => row.state === "complete" &&
      !missing.some(({ tid, lost: [begin, end] }) => tid === row.tid && begin < row.end && end > row.start));
    assert.ok(missing.length > 2);
    for (const name of ["item", "part", "nap", "worker"]) {
      const calls = callsOf(file, name);
      assert.deepEqual(calls.filter(({ state }) => state === "unwound"), [], name);
      const exact = whole.filter(({ symbol }) => symbol === name).sort(inOrder);
      const complete = calls.filter(({ state }) => state === "complete").sort(inOrder);
      assert.deepEqual(complete.map(({ tid }) => tid), exact.map(({ tid }) => tid), name);
      for (const [index, call] of complete.entries()) {
        assert.ok(Math.abs(call.latency - (exact[index].end - exact[index].start)) <= 2 * (call.resolution + rounding), `${name} ${index}`);
      }
    }
    assert.ok(callsOf(file, "part").length < 2 * sum(threads, ({ items }) => items));
    const { recording } = json(["functions", "--json", file]);
    assert.ok(recording.gaps > 0 && recording.lost_ns > 0);
    assert.ok(noteOf(recording, "untraced_processors"));
  });

  test("buffers of threads: two threads that change processors", async (t) => {
    const folder = temporaryFolder(t);
    const file = path.join(folder, "perf.data");
    const target = background(t, compile(folder), ["wait"]);
    const field = (tid, name) => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(readFileSync(`/proc/${tid}/status`, "utf8"))[1];
    const tids = () => readdirSync(`/proc/${target.child.pid}/task`);
    await until("both threads wait", () => tids().length === 2 && tids().every((tid) => field(tid, "State") === "S"));
    const recorder = background(t, simulator,
      ["record", "-e", event, "--per-thread", "--switch-events", "--slice", "4000", "-o", file, "-p", String(target.child.pid)]);
    await until("both threads are traced", () => tids().every((tid) => field(tid, "TracerPid") === String(recorder.child.pid)));
    target.child.stdin.write("......"); // the two other processes run untraced
    const ended = await target.closed;
    assert.equal((await recorder.closed).status, 0);
    const own = threadsOf(ended.stdout).filter(({ pid }) => pid === target.child.pid);
    assert.equal(own.length, 2);
    checkCalls(file, own);
    const { recording } = json(["functions", "--json", file]);
    assert.deepEqual([recording.gaps, recording.decode_errors, recording.threads], [0, 0, 2]);
    assert.equal(json(["verify", "--json", file]).difference, null);
  });
});
