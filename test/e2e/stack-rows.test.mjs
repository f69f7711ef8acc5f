// One test for each known difficulty of rebuilding calls: a small program whose calls are all known is traced
// by the simulator and queried on the command line. The expected numbers are those of the programs' own loops
// (test/samples/stacks).
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { helper, json, jsonLines, noPerf, output, root, run, simulator } from "./support.mjs";

const sources = path.join(root, "test/samples/stacks");
const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";
const rounding = 2; // ns: each of two times is a whole number
const microsecond = 1000;
const second = 1_000_000_000;

function whyNot() {
  if (noPerf) return noPerf;
  if (!existsSync(simulator)) return `${simulator} is not built`;
  return run("sh", ["-c", "command -v gcc && command -v g++"]).status === 0 ? false : "gcc and g++ are not installed";
}

const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

const inFolder = (name) => path.join(folder, `${(made += 1)}-${name}`);

function build(source, flags = ["-O2"], more = []) {
  const program = inFolder(path.parse(source).name);
  output(source.endsWith(".cpp") ? "g++" : "gcc", ["-g", ...flags, "-o", program, path.join(sources, source), ...more]);
  return program;
}

// `options` are the simulator's, `environment` the program's.
function record(program, { options = [], args = [], environment = {} } = {}) {
  const file = inFolder("perf.data");
  const start = options.includes("--start-at") ? [] : ["--start-at", "main"];
  output(simulator, ["record", "-e", event, ...start, ...options, "-o", file, "--", program, ...args], {
    env: { ...process.env, LD_BIND_NOW: "1", ...environment },
  });
  const { recording, functions } = json(["functions", "--json", file]);
  const one = (name, binary) => (binary ? ["--function", name, "--binary", binary] : ["--function", name]);
  const asked = new Map();
  const calls = (name) => {
    if (!asked.has(name)) asked.set(name, jsonLines(output(helper, ["calls", "--json-lines", ...one(name), file])));
    return asked.get(name);
  };
  return {
    file,
    program,
    recording,
    functions,
    truth: jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8")),
    row: (name) => functions.find((row) => row.name === name),
    rows: (name) => functions.filter((row) => row.name === name),
    report: (name, binary) => json(["report", "--json", ...one(name, binary), file]),
    calls,
    // How often the function was called: by "caller", "caller tail", "caller unwound".
    callers(name) {
      const counts = {};
      for (const { caller, state, tail_call: tail } of calls(name)) {
        const key = [caller, ...(tail ? ["tail"] : []), ...(state === "complete" ? [] : [state])].join(" ");
        counts[key] = (counts[key] ?? 0) + 1;
      }
      return counts;
    },
  };
}

const plain = new Map();

// The sample as gcc -O2 makes it, recorded once.
function recorded(source) {
  if (!plain.has(source)) plain.set(source, record(build(source)));
  return plain.get(source);
}

const truthOf = (run, name) => run.truth.filter((row) => row.symbol === name).sort((one, other) => one.start - other.start);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const end = ({ start, latency }) => start + latency;

function nothingIsLost({ recording }) {
  assert.deepEqual([recording.gaps, recording.lost_ns, recording.decode_errors], [0, 0, 0]);
}

// Each call ended as the stepped one did, after as long, to within the resolution that is stated with it.
function latenciesAreTrue(run, name) {
  const calls = run.calls(name);
  const truth = truthOf(run, name);
  assert.equal(calls.length, truth.length, name);
  calls.forEach((call, index) => {
    const exact = truth[index].end - truth[index].start;
    assert.equal(call.state, truth[index].state, `${name} ${index}`);
    assert.ok(Math.abs(call.latency - exact) <= call.resolution + rounding, `${name} ${index}: ${call.latency} ns, not ${exact} ns`);
  });
}

// In every thread the self times of all frames are the traced time, and no function takes longer.
function timeAddsUp({ recording, functions }) {
  const traced = sum(recording.thread_list.map((thread) => thread.trace_ns));
  assert.equal(sum(functions.map((row) => row.self)), traced);
  for (const row of functions) assert.ok(row.inclusive <= traced, row.name);
}

describe("rows", { skip: whyNot() }, () => {
  test("tail call: a function that ends in one has all its calls, and lasts until the callee returns", () => {
    const run = recorded("tail.c");
    assert.deepEqual(run.callers("start"), { chain: 5 });
    assert.deepEqual(run.callers("middle"), { "start tail": 5 });
    assert.deepEqual(run.callers("last"), { "middle tail": 5, "by_pointer tail": 4, "maybe tail": 2 });
    assert.deepEqual(run.callers("odd"), { "even tail": 3 });
    const lasts = run.calls("last");
    run.calls("start").forEach((start, index) => assert.equal(end(start), end(lasts[index])));
    latenciesAreTrue(run, "start");
    timeAddsUp(run);
  });

  test("jump into f.cold, f.part.0, f.isra.0 and f.constprop.0: parts and copies are the one function", () => {
    const made = [];
    for (const level of ["-O2", "-O3"]) {
      const run = record(build("parts.c", [level]));
      made.push(...output("nm", ["-j", run.program]).split("\n"));
      assert.deepEqual(run.callers("split"), { main: 9 });
      assert.deepEqual(run.callers("complain"), { split: 6 }, "made in split.cold");
      const splits = run.calls("split");
      for (const call of run.calls("complain")) {
        assert.ok(splits.some((split) => split.start <= call.start && end(call) <= end(split)), "the call goes on in its cold part");
      }
      const source = (name) => name.replace(/ \[clone.*/, "").replace(/\.(cold|part|isra|constprop).*/, "");
      for (const [name, calls] of [["split", 9], ["partial", 9], ["reshaped", 4], ["fixed", 9]]) {
        const rows = run.functions.filter((row) => source(row.name) === name && row.binary === run.program);
        assert.deepEqual(rows.map((row) => row.complete), [calls], name);
      }
      timeAddsUp(run);
    }
    for (const name of ["split.cold", "partial.part.0", "reshaped.constprop.0.isra.0", "fixed.constprop.0"]) {
      assert.ok(made.includes(name), `${name}: the compiler no longer makes it`);
    }
  });

  test("direct recursion: three recursive activations are three calls, and their time counts once", () => {
    const run = recorded("recursion.c");
    const { complete, inclusive } = run.row("three");
    assert.equal(complete, 3);
    assert.deepEqual(run.callers("three"), { main: 1, three: 2 });
    assert.equal(inclusive, run.calls("three").find((call) => call.caller === "main").latency);
    assert.equal(run.row("fibonacci").complete, 41);
    timeAddsUp(run);
  });

  test("mutual recursion: inclusive times are those of the outermost activations", () => {
    const run = recorded("recursion.c");
    assert.deepEqual(run.callers("ping"), { main: 1, pong: 2 });
    assert.deepEqual(run.callers("pong"), { ping: 2 });
    const [ping] = run.calls("ping");
    const [pong] = run.calls("pong");
    assert.equal(run.row("ping").inclusive, ping.latency);
    assert.equal(run.row("pong").inclusive, pong.latency);
    assert.ok(pong.latency <= ping.latency);
  });

  test("exception: what it passes is unwound, with its time, and its handler's function goes on", () => {
    const run = record(build("exceptions.cpp", ["-O0"]));
    assert.deepEqual(run.callers("catcher"), { main: 2 });
    assert.deepEqual(run.callers("between"), { "catcher unwound": 2 });
    assert.deepEqual(run.callers("thrower"), { "guarded unwound": 2, "rethrows unwound": 1 });
    assert.deepEqual(run.callers("descend"), { main: 1, descend: 2, "descend unwound": 3 });
    assert.ok(run.calls("between").every((call) => call.latency > 0));
    latenciesAreTrue(run, "catcher");
    latenciesAreTrue(run, "descend");
    timeAddsUp(run);
  });

  test("longjmp: what it passes is unwound, and the activation that called setjmp goes on", () => {
    const run = record(build("longjmp.c", ["-O0"]));
    assert.deepEqual(run.callers("lands"), { main: 3 });
    assert.deepEqual(run.callers("passes"), { "lands unwound": 3 });
    assert.deepEqual(run.callers("search"), { main: 1, search: 2, "search unwound": 4 });
    latenciesAreTrue(run, "search");
    timeAddsUp(run);
  });

  test("stack switch: the frames of each stack live on while others run", () => {
    const contexts = recorded("contexts.c");
    assert.deepEqual(contexts.callers("pause_inside"), { left_worker: 3 });
    assert.deepEqual(contexts.callers("resume"), { workers: 8, generate: 2, twins: 4 });
    timeAddsUp(contexts);
    const fibers = recorded("fibers.c");
    assert.deepEqual(fibers.callers("step"), { first_fiber: 6, second_fiber: 4 });
    assert.deepEqual(fibers.callers("round_trip"), { main: 2 });
    timeAddsUp(fibers);
  });

  test("PLT and _dl_runtime_resolve, which returns into its target: folded into what they reach", () => {
    const run = record(build("stubs.c", ["-O2", "-no-pie"], ["-Wl,-z,lazy"]), { environment: { LD_BIND_NOW: "" } });
    assert.deepEqual(run.callers("rand_r"), { bound_once: 3 });
    assert.deepEqual(run.callers("a64l"), { "bound_by_jump tail": 2 });
    for (const { name } of run.functions) assert.doesNotMatch(name, /@plt|_dl_runtime_resolve/);
    const [late, bound] = run.calls("rand_r");
    assert.ok(late.latency > 10 * bound.latency, "the first call holds the search for it");
    timeAddsUp(run);
  });

  test("ifunc and IRELATIVE: the call is one of the function that was chosen", () => {
    for (const flags of [["-O2"], ["-O2", "-static"]]) {
      const run = record(build("stubs.c", flags));
      assert.deepEqual(run.callers("quick"), { uses_selected: 3 }, flags.join(" "));
      for (const { name } of run.functions) assert.doesNotMatch(name, /@plt|ABS/);
    }
  });

  test("retpolines: folded into what they reach", () => {
    const run = record(build("retpoline.c", ["-O2", "-mindirect-branch=thunk", "-mfunction-return=thunk", "-fcf-protection=none"]));
    assert.deepEqual(run.callers("add"), { calls: 3, "jumps tail": 3, switches: 1 });
    assert.deepEqual(run.callers("negate"), { calls: 3, "jumps tail": 3, switches: 1 });
    for (const { name } of run.functions) assert.doesNotMatch(name, /^__x86/);
    latenciesAreTrue(run, "calls");
    timeAddsUp(run);
  });

  test("ret used as a jump is a call", () => {
    const run = recorded("odd_returns.c");
    assert.deepEqual(run.callers("pushes_target"), { all_of_them: 3 });
    assert.deepEqual(run.callers("target"), { "pushes_target tail": 3, skips_data: 3, has_subroutine: 6 });
    timeAddsUp(run);
  });

  test("call to the next instruction is no frame", () => {
    const run = recorded("odd_returns.c");
    assert.deepEqual(run.callers("reads_pointer"), { all_of_them: 3 });
    assert.deepEqual(run.report("reads_pointer").children, []);
    latenciesAreTrue(run, "reads_pointer");
  });

  test("system calls in a user-only trace: the call goes on, and the time is reported separately", () => {
    const run = recorded("system_calls.c");
    nothingIsLost(run);
    assert.deepEqual(run.callers("asks"), { main: 4 });
    assert.deepEqual(run.callers("after"), { asks: 4, naps: 1 });
    const report = run.report("asks");
    assert.equal(report.calls.complete, 4);
    assert.ok(report.outside_user_code.total > 0 && report.outside_user_code.total < report.latency.total);
    latenciesAreTrue(run, "asks");
    timeAddsUp(run);
  });

  test("interrupts: calls that are preempted go on, and what they wait is off-CPU", () => {
    const run = record(build("steady.c"), { options: ["--cpus", "1", "--slice", "3000", "--seed", "4"], args: ["8"] });
    nothingIsLost(run);
    assert.deepEqual(run.callers("brief"), { batch: 400 });
    assert.deepEqual(run.callers("batch"), { main: 8 });
    const { off_cpu: off, latency, outside_user_code: outside } = run.report("batch");
    assert.equal(off.total, sum(truthOf(run, "batch").map((call) => call.off_cpu)));
    assert.ok(off.preempted > 0 && off.preempted === off.total && off.total < latency.total);
    assert.ok(outside.total >= off.total);
    latenciesAreTrue(run, "batch");
    timeAddsUp(run);
  });

  test("signal handlers: on a stack of their own, charged to nobody's self time", () => {
    const run = recorded("signals.c");
    assert.deepEqual(run.callers("plain_handler"), { "[signal]": 4 });
    assert.deepEqual(run.callers("leaving_handler"), { "[signal] unwound": 2 });
    assert.deepEqual(run.callers("helper"), { plain_handler: 4, outer_handler: 2, skipping_handler: 2, leaving_handler: 2 });
    assert.deepEqual(run.callers("touch"), { main: 1 });
    const [touch] = run.calls("touch");
    assert.ok(touch.self < touch.latency / 2, "the handler's time is not touch's own");
    timeAddsUp(run);
  });

  test("start of a call that was not traced: incomplete, not dated back, outside the statistics", () => {
    const run = record(build("edges.c"), { options: ["--start-at", "inner", "--stop-at", "stop_here"] });
    const first = Math.min(...run.truth.filter((row) => row.start !== undefined).map((row) => row.start));
    for (const name of ["outer", "inner", "last_one", "stop_here"]) {
      const report = run.report(name);
      assert.deepEqual(report.calls, { complete: 0, incomplete: 1, unwound: 0 }, name);
      assert.deepEqual([report.latency.mean, report.latency.max, report.latency.total], [0, 0, 0], name);
      const [call] = run.calls(name);
      assert.ok(call.start + call.resolution >= first, "not dated back");
      const [exact] = truthOf(run, name);
      if (exact) assert.ok(call.latency <= exact.end - exact.start + call.resolution + rounding, "a lower bound");
    }
    assert.equal(run.report("leaf").calls.complete, 5);
    timeAddsUp(run);
  });

  for (const { what, fault, pause } of [
    { what: "an overflow makes no 900 µs call", fault: "ovf:every=40", pause: "0" },
    { what: "a full buffer makes no long call", fault: "truncate:every=40", pause: "10" },
  ]) {
    test(`gap: ${what}, and is reported`, () => {
      const run = record(build("steady.c"), { options: ["--slice", "0", "--fault", fault], args: ["15", pause] });
      const { recording } = run;
      const lost = run.truth.filter((row) => row.lost).map((row) => row.lost);
      const errors = output("perf", ["script", "-f", "-i", run.file, "--itrace=e"]).split("\n").filter((line) => line.includes("instruction trace error type"));
      assert.ok(lost.length >= 3);
      assert.deepEqual([recording.gaps, recording.decode_errors], [lost.length, 0]);
      assert.equal(recording.gaps, errors.length, "as many as perf reports");
      assert.ok(recording.lost_ns > 0 && recording.lost_ns <= recording.trace_ns);
      for (const name of ["brief", "batch"]) {
        const calls = run.calls(name);
        const truth = truthOf(run, name);
        const whole = truth.filter(({ start, end }) => lost.every(([from, to]) => end <= from || start >= to));
        const longest = Math.max(0, ...whole.map((call) => call.end - call.start));
        const complete = calls.filter(({ state }) => state === "complete");
        assert.ok(complete.length <= whole.length, `${name}: ${complete.length} complete calls of ${whole.length} without a gap inside`);
        for (const { latency, resolution } of complete) {
          assert.ok(latency - resolution - rounding <= longest, `${name}: ${latency} ± ${resolution} ns`);
        }
        assert.ok(calls.length > complete.length, "those that a gap has cut are there");
      }
      timeAddsUp(run);
    });
  }

  test("CPU migration: a thread's calls go on where it goes on", () => {
    const run = record(build("migrates.c", ["-O2", "-pthread"]), { options: ["--cpus", "2", "--slice", "1000"] });
    nothingIsLost(run);
    assert.deepEqual(run.callers("works"), { start_thread: 3 });
    assert.deepEqual(run.callers("deep"), { works: 36, deep: 252 });
    const branches = output(helper, ["decode", "--events", "branches", run.file]).split("\n").filter(Boolean).map((line) => line.split("\t"));
    const cpus = new Map();
    for (const [, tid, cpu] of branches) cpus.set(tid, (cpus.get(tid) ?? new Set()).add(cpu));
    assert.ok([...cpus.values()].filter((each) => each.size === 2).length >= 3, "the threads were moved");
    assert.equal(json(["verify", "--json", run.file]).difference, null);
    timeAddsUp(run);
  });

  describe("same symbol name twice", () => {
    const library = (name) => {
      const file = path.join(folder, name);
      output("gcc", ["-g", "-O2", "-shared", "-fPIC", "-o", file, path.join(sources, "same_names_library.c")]);
      return file;
    };
    let names;
    const sameNames = () =>
      (names ??= record(build("same_names.cpp", ["-O2"], [path.join(sources, "same_names_other.cpp"), "-ldl"]), {
        args: [library("libone.so"), library("libtwo.so")],
      }));

    test("two static functions of one name are two rows", () => {
      const rows = sameNames().rows("local(int)");
      assert.deepEqual(rows.map((row) => row.complete).sort(), [3, 5]);
      assert.deepEqual(rows.map((row) => path.basename(row.file)).sort(), ["same_names.cpp", "same_names_other.cpp"]);
      const other = rows.find((row) => row.complete === 5);
      assert.deepEqual(sameNames().callers(`local@${other.address}`), { other_file: 5 });
      const { status, stderr } = run(helper, ["report", "--function", "local", sameNames().file]);
      assert.equal(status, 1);
      for (const { address } of rows) assert.ok(stderr.includes(address), "the message names both");
    });

    test("overloads are rows of their own", () => {
      assert.equal(sameNames().row("step(int)").complete, 4);
      assert.equal(sameNames().row("step(double)").complete, 6);
    });

    test("two libraries that export one name are two rows", () => {
      const rows = sameNames().rows("exported");
      assert.deepEqual(rows.map((row) => [path.basename(row.binary), row.complete]).sort(), [["libone.so", 7], ["libtwo.so", 8]]);
      assert.equal(rows[0].address, rows[1].address, "only the binary distinguishes them");
      assert.equal(sameNames().report("exported", "libtwo.so").calls.complete, 8);
    });
  });

  test("position-independent executable: lines of functions and of call sites", () => {
    const run = record(build("tail.c", ["-O2", "-pie", "-fPIE"]));
    assert.match(output("readelf", ["-h", run.program]), /DYN/);
    const lines = readFileSync(path.join(sources, "tail.c"), "utf8").split("\n");
    const lineOf = (text) => 1 + lines.findIndex((line) => line.includes(text));
    const report = run.report("start");
    assert.equal(path.basename(report.function.file), "tail.c");
    assert.equal(report.function.line, lineOf("FUNCTION int start("));
    assert.deepEqual(report.callers.map((row) => row.line), [lineOf("sum += start(i)")]);
    const [site] = report.callers;
    assert.match(output("addr2line", ["-e", run.program, site.call_site]), new RegExp(`tail\\.c:${site.line}\\b`));
  });

  test("6 s of sleep is 6 s off-CPU, not 1.7 s of 32 bits", () => {
    const run = record(build("system_calls.c"), { options: ["--wait-scale", "2000"] }); // it sleeps 3 ms
    const report = run.report("naps");
    assert.deepEqual(report.calls, { complete: 1, incomplete: 0, unwound: 0 });
    const [exact] = truthOf(run, "naps");
    assert.ok(exact.off_cpu >= 6 * second);
    assert.equal(report.off_cpu.total, exact.off_cpu);
    assert.equal(report.off_cpu.blocked, exact.off_cpu);
    assert.ok(report.latency.max >= 6 * second && report.latency.mean >= 6 * second);
    assert.ok(report.outside_user_code.total >= report.off_cpu.total);
    assert.ok(report.on_cpu.total < 100 * microsecond);
    assert.deepEqual(report.histogram.filter((bucket) => bucket.calls > 0).map((bucket) => bucket.low), [2 ** 32]);
    const [call] = run.calls("naps");
    assert.ok(call.latency >= 6 * second && call.off_cpu === exact.off_cpu);
    timeAddsUp(run);
  });

  test("means are no whole numbers: 1, 1 and 0 switches in three calls make 0.67", () => {
    const run = recorded("sleeps.c");
    const report = run.report("works");
    assert.deepEqual([report.calls.complete, report.off_cpu.switches, report.off_cpu.calls], [3, 2, 2]);
    const calls = run.calls("works");
    for (const [figure, values] of [
      [report.latency, calls.map((call) => call.latency)],
      [report.off_cpu, calls.map((call) => call.off_cpu)],
      [report.self, calls.map((call) => call.self)],
    ]) {
      assert.equal(figure.total, sum(values));
      assert.ok(Math.abs(figure.mean - sum(values) / 3) < 1e-6, `${figure.mean} of ${values}`);
    }
    assert.equal(run.row("works").mean, report.latency.mean);
    const means = [run, recorded("recursion.c")].flatMap((each) => each.functions.map((row) => row.mean));
    assert.ok(means.some((mean) => !Number.isInteger(mean)));
  });

  test("trace − lost never underflows: a recording that lost most of its trace has shares of 0 to 100 %", () => {
    const run = record(build("steady.c"), { options: ["--slice", "0", "--fault", "truncate:every=40"], args: ["15", "10"] });
    const { trace_ns: traced, lost_ns: lost, thread_list: threads } = run.recording;
    assert.ok(lost > traced / 2 && lost <= traced, `${lost} of ${traced} ns`);
    for (const thread of threads) assert.ok(thread.lost_ns <= thread.trace_ns);
    for (const name of ["brief", "batch", "main"]) {
      const { cpu_percent: share, on_cpu: on } = run.report(name);
      assert.ok(share >= 0 && share <= 100, `${name}: ${share} %`);
      assert.ok(name !== "brief" || Math.abs(share - (100 * on.total) / (traced - lost)) < 1e-6);
    }
  });
});
