// Line time in simulated traces: executions follow from the program's arithmetic, and both they and the
// times are held against a walk of ptsim's own list of branches, which knows each one's time, over what
// objdump and addr2line say of the code. The walk keeps a stack of calls; the helper keeps none.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { helper, json, output, ptlens, root, run, simulator } from "./support.mjs";

const source = path.join(root, "test/samples/line_times.c");
const compiler = process.env.CC ?? "gcc";
const count = 40;
const cycles = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";
const functions = ["square", "spin", "descend", "twice", "pause_for", "work", "main"];
const rounding = 20; // ns over the whole run: packets contain whole ticks, and times are whole ns

function whyNot() {
  if (!existsSync(simulator)) return `${simulator} is not built`;
  for (const program of [compiler, "objdump", "addr2line"]) {
    if (run(program, ["--version"]).status !== 0) return `${program} does not run`;
  }
  return false;
}

// Line of each mark in the source.
const marks = new Map();
for (const [index, text] of readFileSync(source, "utf8").split("\n").entries()) {
  const mark = /\/\/ @(\w+)/.exec(text)?.[1];
  if (mark !== undefined) marks.set(mark, index + 1);
}

// Line, in the text of the function that holds it, of each instruction of the sample's functions.
function linesOfCode(program) {
  const code = Object.assign(new Map(), { entries: new Set() });
  let wanted = false;
  for (const text of output("objdump", ["-d", "--no-show-raw-insn", program]).split("\n")) {
    const [, entry, name] = /^([0-9a-f]+) <(\w+)(?:\.[\w.]+)?>:$/.exec(text) ?? [];
    if (name !== undefined) wanted = functions.includes(name);
    if (wanted && entry !== undefined) code.entries.add(Number.parseInt(entry, 16));
    const address = /^ +([0-9a-f]+):\t/.exec(text)?.[1];
    if (wanted && address !== undefined) code.set(Number.parseInt(address, 16), 0);
  }
  const addresses = [...code.keys()];
  const located = run("addr2line", ["-a", "-i", "-e", program], { input: addresses.map((address) => address.toString(16)).join("\n") });
  let address = 0;
  for (const text of located.stdout.split("\n").filter(Boolean)) {
    if (text.startsWith("0x")) address = Number.parseInt(text, 16);
    else code.set(address, Number.parseInt(/:(\d+)/.exec(text)?.[1] ?? "0", 10)); // the outermost comes last
  }
  return code;
}

const nothing = { line: -1, anywhere: true }; // of the stretch that begins was executed before

// From the stepped machine: executions of each line, the time of straight code of that line alone, and of all
// straight code with it. What the trace lost is left out.
function walk(file, code, branches = `${file}.truth.branches.tsv`) {
  const addresses = [...code.keys()].sort((one, other) => one - other);
  const executions = new Map();
  const alone = new Map();
  const among = new Map();
  const threads = new Map();
  let ran = 0;
  let missing = 0; // ns
  const add = (map, line, value) => map.set(line, (map.get(line) ?? 0) + value);
  for (const row of readFileSync(branches, "utf8").split("\n").filter(Boolean)) {
    const [tid, fromText, toText, kind, , nsText = "0", lost = "0"] = row.split("\t");
    const [from, to, ns] = [Number.parseInt(fromText, 16), Number.parseInt(toText, 16), Number(nsText)];
    const thread = threads.get(tid) ?? { position: 0, ns: 0, calls: [], begun: undefined, left: undefined };
    threads.set(tid, thread);
    const runs = kind !== "off" && kind !== "interrupt"; // the instruction at `from` was executed
    const stretch = [];
    if (thread.position !== 0 && kind !== "on" && lost === "0") {
      for (let at = lowerBound(addresses, thread.position); addresses[at] < from || (runs && addresses[at] === from); at += 1) stretch.push(code.get(addresses[at]));
    }
    const lines = [...new Set(stretch)];
    const { begun } = thread;
    for (const [index, line] of lines.entries()) {
      const known = begun !== undefined && (begun.anywhere ? line === begun.line : index === 0 && (begun.unseen || line === begun.line));
      if (!known) add(executions, line, 1);
      add(among, line, ns - thread.ns);
      if (lines.length === 1) add(alone, line, ns - thread.ns);
    }
    ran += lines.length > 0 ? ns - thread.ns : 0;
    missing += lost === "0" ? 0 : ns - thread.ns;
    const last = stretch.at(-1);
    thread.begun = undefined;
    if (lost !== "0") Object.assign(thread, { calls: [], left: undefined, begun: { unseen: true } });
    else if (kind === "call") thread.calls.push({ line: last });
    else if (kind === "return") {
      // The call of one that began before the trace is the instruction that it returns behind.
      const call = thread.calls.pop() ?? { line: code.get(addresses[lowerBound(addresses, to) - 1]) };
      if (call.line !== undefined) thread.begun = { line: call.line, anywhere: true };
    } else if (kind === "on") thread.begun = thread.left ?? (code.entries.has(to) ? undefined : { unseen: true });
    else if ((kind === "jump" || kind === "cond") && to > from && last !== undefined) thread.begun = { line: last };
    if (kind === "syscall" || kind === "interrupt" || kind === "off") thread.left = last === undefined ? (begun ?? nothing) : { line: last, anywhere: true };
    Object.assign(thread, { position: to, ns });
  }
  return { executions, alone, among, ran, lost: missing };
}

function lowerBound(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const asObject = (map) => Object.fromEntries([...map].filter(([line]) => line !== 0).sort(([one], [other]) => one - other));
const executionsOf = (lineTime) => Object.fromEntries(lineTime.lines.filter(({ line, executions }) => line !== 0 && executions !== 0).map(({ line, executions }) => [line, executions]));
const sum = (values) => values.reduce((total, value) => total + value, 0);

describe("line time", { skip: whyNot() }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const build = (name, ...flags) => {
    const program = path.join(folder, name);
    if (!existsSync(program)) output(compiler, ["-g", "-no-pie", ...flags, "-o", program, source]);
    return program;
  };
  const record = (name, program, event, ...options) => {
    const file = path.join(folder, name);
    const result = run(simulator, ["record", "-e", event, "--start-at", "main", "--branches", ...options, "-o", file, "--", program, String(count)], { env: { ...process.env, LD_BIND_NOW: "1" } });
    assert.equal(result.status, 0, result.stderr);
    const stated = new Map(result.stdout.split("\n").map((line) => line.split(" ")).filter(([mark]) => marks.has(mark)).map(([mark, times]) => [mark, Number(times)]));
    return { file, stated };
  };
  const lineTime = (file, ...options) => json(["lines", "--json", "--file", "line_times.c", "--time", ...options, file]).line_time;

  for (const [name, ...flags] of [["plain", "-O0"], ["optimised", "-O2"]]) {
    describe(`of a program built with ${flags.join(" ")}`, () => {
      let file;
      let stated;
      let truth;
      let found;

      before(() => {
        const program = build(name, ...flags);
        ({ file, stated } = record(`${name}.data`, program, cycles));
        truth = walk(file, linesOfCode(program));
        found = lineTime(file);
      });

      if (name === "plain") {
        test("each line was executed as often as the source says", () => {
          assert.equal(stated.size, marks.size);
          const executed = executionsOf(found);
          for (const [mark, times] of stated) assert.equal(executed[marks.get(mark)], times, mark);
        });
      }

      test("each line was executed as often as the stepped machine did", () => {
        assert.deepEqual(executionsOf(found), asObject(truth.executions));
      });

      test("the true time of each line is within its bounds", () => {
        assert.ok(found.timed);
        assert.ok(truth.among.size > 20);
        for (const [line, among] of truth.among) {
          const row = found.lines.find((each) => each.line === line);
          const alone = truth.alone.get(line) ?? 0;
          assert.ok(row.at_least <= among + rounding, `line ${line}: ${row.at_least} at least, in truth ${among} at most`);
          assert.ok(row.at_most >= alone - rounding, `line ${line}: ${row.at_most} at most, in truth ${alone} at least`);
          assert.equal(row.time === null, row.at_least < row.at_most / 2, `line ${line}`);
          if (row.time !== null) assert.deepEqual([row.time - row.resolution, row.time + row.resolution], [row.at_least, row.at_most]);
          else assert.ok(row.shared_with_others || row.shared_with.length > 0, `line ${line}`);
        }
      });

      test("the loop on one line has a time, and short lines share theirs with their neighbours", () => {
        const row = (mark) => found.lines.find(({ line }) => line === marks.get(mark));
        const loop = row("one_line_loop");
        const truly = truth.among.get(marks.get("one_line_loop"));
        assert.ok(Math.abs(loop.time - truly) <= loop.resolution + rounding, `${loop.time} ± ${loop.resolution}, in truth ${truly}`);
        assert.ok(loop.resolution < loop.time / 4);
        assert.equal(row("plain").time, null);
        assert.ok(row("plain").shared_with.includes(marks.get("callee")));
      });

      test("no time is given twice: the blocks are no longer than the code ran, and each is of its lines", () => {
        assert.equal(found.blocks_left_out, 0);
        const ran = truth.ran;
        const certain = sum(found.blocks.filter(({ others }) => !others).map(({ time }) => time));
        const possible = sum(found.blocks.map(({ time }) => time));
        assert.ok(certain <= ran + rounding && ran <= possible + rounding, `${ran} in ${certain} to ${possible}`);
        for (const { line, at_most: most, at_least: least } of found.lines) {
          const own = found.blocks.filter(({ lines }) => lines.includes(line));
          assert.equal(sum(own.map(({ time }) => time)), most);
          assert.equal(sum(own.filter(({ lines, others }) => lines.length === 1 && !others).map(({ time }) => time)), least);
        }
      });
    });
  }

  describe("of other recordings", () => {
    let program;
    let code;
    before(() => {
      program = build("plain", "-O0");
      code = linesOfCode(program);
    });

    const within = (found, truth) => {
      for (const [line, among] of truth.among) {
        const row = found.lines.find((each) => each.line === line);
        const alone = truth.alone.get(line) ?? 0;
        assert.ok(row.at_least <= among + rounding && row.at_most >= alone - rounding, `line ${line}: ${row.at_least} to ${row.at_most}, in truth ${alone} to ${among}`);
      }
    };

    test("returns that have a time of their own", () => {
      const { file } = record("returns.data", program, cycles.replace("noretcomp=0", "noretcomp=1"));
      const truth = walk(file, code);
      const found = lineTime(file);
      assert.deepEqual(executionsOf(found), asObject(truth.executions));
      within(found, truth);
    });

    test("without cycle packets the bounds are wider, and still hold", () => {
      const { file } = record("coarse.data", program, cycles.replace("cyc,", "cyc=0,"));
      const truth = walk(file, code);
      const found = lineTime(file);
      assert.deepEqual(executionsOf(found), asObject(truth.executions));
      within(found, truth);
      const timed = found.lines.filter(({ time }) => time !== null).map(({ line }) => line);
      assert.ok(timed.every((line) => line === marks.get("one_line_loop")), `timed: ${timed}`);
    });

    test("a made-up walk of three threads, switched and interrupted everywhere", () => {
      const optimised = build("optimised", "-O2");
      const file = path.join(folder, "walk.data");
      const branches = path.join(folder, "walk.tsv");
      output(simulator, ["synth", "-o", file, "--branches", branches, "--bytes", "200kb", "--threads", "3", "--cpus", "2", "--slice", "20", "--interrupts", "5", "--seed", "3", optimised]);
      const truth = walk(file, linesOfCode(optimised), branches);
      const found = lineTime(file);
      assert.deepEqual(executionsOf(found), asObject(truth.executions));
      assert.equal(found.cut, 0);
    });

    for (const fault of ["ovf:every=400", "truncate:every=600", "cut:every=600"]) {
      test(`what is lost is neither timed nor counted: ${fault}`, () => {
        const name = fault.replace(/\W/g, "_");
        const { file } = record(name, program, cycles, "--fault", fault);
        const truth = walk(file, code);
        const found = lineTime(file);
        const executed = executionsOf(found);
        const stretches = readFileSync(`${file}.truth.branches.tsv`, "utf8").split("\n").filter(Boolean).map((row) => row.split("\t").at(-1));
        const losses = stretches.filter((lost, index) => lost !== "0" && stretches[index - 1] !== lost).length;
        assert.ok(losses > 1 && found.cut <= losses, `${found.cut} of ${losses}`);
        // At each edge of a loss one stretch may be known to one side alone.
        let differing = 0;
        for (const [line, times] of truth.executions) differing += line === 0 ? 0 : Math.abs(times - (executed[line] ?? 0));
        const total = sum([...truth.executions.values()]);
        assert.ok(differing <= 6 * losses && differing < total / 10, `${differing} of ${total} differ, ${losses} losses`);
        for (const { line, at_least: least } of found.lines) assert.ok(least <= (truth.among.get(line) ?? 0) + truth.lost + rounding, `line ${line}`);
        assert.ok(sum(found.blocks.filter(({ others }) => !others).map(({ time }) => time)) <= truth.ran + truth.lost + rounding);
      });
    }

    test("of a filtered trace, the lines of the function that was let through", () => {
      const { file, stated } = record("filtered.data", program, cycles, "--filter", `filter work @ ${program}`);
      const executed = executionsOf(lineTime(file, "--function", "work"));
      for (const mark of ["once", "loop", "plain", "callee", "two_callees", "condition", "fifth", "deep", "end"]) assert.equal(executed[marks.get(mark)], stated.get(mark), mark);
    });

    test("one function, by any decoder and any number of workers", () => {
      const file = path.join(folder, "plain.data");
      const found = lineTime(file, "--function", "descend");
      assert.deepEqual(found.lines.map(({ line }) => line), Array.from({ length: 9 }, (_, index) => marks.get("descend") - 1 + index).filter((line) => ![marks.get("leaf") + 1].includes(line)));
      assert.deepEqual(lineTime(file, "--function", "descend", "--workers", "1"), found);
      assert.deepEqual(lineTime(file, "--function", "descend", "--decoder", "libipt"), found);
    });

    test("text, and what cannot be", () => {
      const file = path.join(folder, "plain.data");
      const text = output(helper, ["lines", "--file", "line_times.c", "--time", file]);
      assert.match(text, /Time of the lines themselves/);
      assert.match(text, new RegExp(`\\n +${marks.get("one_line_loop")} +6,040 +[\\d.]+ µs +[\\d.]+ [nµ]s`));
      assert.match(text, new RegExp(`\\n +${marks.get("plain")} +40 +- +- +- +[\\d.]+ [nµ]s +lines [\\d–, …]+`));
      for (const [args, reason] of [
        [["--time", "--function", "nothing"], /no function "nothing"/],
        [["--function", "work"], /--time/],
      ]) {
        const { status, stderr } = ptlens(["lines", "--file", "line_times.c", ...args, file]);
        assert.notEqual(status, 0);
        assert.match(stderr, reason);
      }
    });
  });
});
