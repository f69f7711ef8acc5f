// Inlined functions in a simulated trace: counts follow from the program's arithmetic, times are held
// against ptsim's truth of the calls just around and inside each execution.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { helper, json, jsonLines, output, ptlens, root, run, simulator } from "./support.mjs";

const count = 30;
const rounding = 2; // ns: each of two times is a whole number
const compiler = process.env.CXX ?? "g++";
const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";

function whyNot() {
  if (!existsSync(simulator)) return `${simulator} is not built`;
  return run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run`;
}

describe("inlined functions", { skip: whyNot() }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "perf.data");
  let truth = [];
  let expected;
  let report;

  before(() => {
    const program = path.join(folder, "inlined");
    output(compiler, ["-std=c++20", "-O2", "-g", "-o", program, path.join(root, "test/samples/inlined.cpp")]);
    const printed = output(simulator, ["record", "-e", event, "--start-at", "main", "-o", file, "--", program, String(count)], { env: { ...process.env, LD_BIND_NOW: "1" } });
    assert.match(printed, new RegExp(`^in_a_loop ${count}\nonce 5\nnested ${Math.ceil(count / 3)}\n`));
    truth = jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8")).filter(({ binary }) => binary === program);
    expected = { in_a_loop: count, nested: Math.ceil(count / 3), once: 5 };
    report = json(["report", "--json", "--function", "mix", file]);
  });

  test("each place has run as often as the source says", () => {
    const rows = Object.fromEntries(report.inlined.map((row) => [/sums::(\w+)/.exec(row.function)[1], row]));
    assert.deepEqual(Object.keys(rows).sort(), Object.keys(expected).sort());
    for (const [name, times] of Object.entries(expected)) {
      assert.deepEqual(rows[name].calls, { complete: times, incomplete: 0, unwound: 0 }, name);
      assert.ok(rows[name].latency.resolution > 0 && rows[name].latency.resolution < 40, name);
      assert.equal(path.basename(rows[name].file), "inlined.cpp");
    }
  });

  test("the report needs no memory for functions that there are not", () => {
    const limited = ["--as=4294967296", helper, "report", "--json", "--no-store", "--function", "mix", file];
    assert.deepEqual(JSON.parse(output("prlimit", limited)).calls, report.calls);
  });

  test("the report of the function is over all places, with callers and children", () => {
    const total = Object.values(expected).reduce((sum, times) => sum + times, 0);
    assert.deepEqual(report.calls, { complete: total, incomplete: 0, unwound: 0 });
    assert.equal(report.function.name, "sums::mix(unsigned long)");
    assert.equal(report.callers.reduce((sum, { calls }) => sum + calls, 0), total);
    assert.ok(report.callers.every(({ line, file: source }) => line > 0 && source.endsWith("inlined.cpp")));
    // One call of stir() at the end, and one more when the argument is odd.
    let odd = 0;
    for (let value = 0; value < count; value += 1) odd += value % 2;
    for (let value = 0; value < 5; value += 1) odd += value % 2;
    for (let value = 0; value < count; value += 3) odd += value % 2;
    assert.ok(report.children.every(({ name }) => name === "sums::stir(unsigned long)"));
    assert.equal(report.children.reduce((sum, { calls }) => sum + calls, 0), total + odd);
    assert.ok(report.recording.notes.some(({ code, text }) => code === "inlined_timed" && /inlined at 3 places.*± \d+ ns/.test(text)));
  });

  test("each execution begins and ends between the true times of the calls before, in and after it", () => {
    const named = (name) => truth.filter(({ symbol }) => symbol.includes(name)).sort((one, other) => one.start - other.start);
    const holders = [...named("in_a_loop"), ...named("4once")];
    const stirs = named("4stir");
    const executions = jsonLines(output(helper, ["calls", "--function", "mix", "--json-lines", file]));
    const slack = Math.max(...report.inlined.map(({ latency }) => latency.resolution)) + rounding;
    // What in_a_loop and once give to mix(): it calls stir() at its end, and before where odd.
    const values = [...Array(count).keys(), ...Array(expected.once).keys()];
    let next = 0;
    for (const [index, value] of values.entries()) {
      const holder = holders[index < count ? 0 : index - count + 1];
      const inside = stirs.slice(next, next + 1 + (value % 2));
      const [least, most] = [[inside[0].start, inside.at(-1).end], [holder.start, holder.end]];
      if (index > 0 && index < count) most[0] = stirs[next - 1].end;
      if (index < count - 1) most[1] = stirs[next + inside.length].start;
      const { start, latency } = executions[index];
      const end = start + latency;
      assert.ok(start >= most[0] - slack && start <= least[0] + slack, `${index} begins at ${start}, not in ${most[0]} to ${least[0]}`);
      assert.ok(end >= least[1] - slack && end <= most[1] + slack, `${index} ends at ${end}, not in ${least[1]} to ${most[1]}`);
      next += inside.length;
    }
  });

  test("an exception unwinds the execution that it leaves", () => {
    const program = path.join(folder, "inlined_exceptions");
    const thrown = path.join(folder, "thrown.data");
    output(compiler, ["-std=c++20", "-O2", "-g", "-o", program, path.join(root, "test/samples/inlined_exceptions.cpp")]);
    output(simulator, ["record", "-e", event, "--start-at", "main", "-o", thrown, "--", program, "10"], { env: { ...process.env, LD_BIND_NOW: "1" } });
    const guarded = json(["report", "--json", "--function", "guarded", thrown]);
    // Of 0 to 9, 0, 4 and 8 throw.
    assert.deepEqual(guarded.calls, { complete: 7, incomplete: 0, unwound: 3 });
    assert.deepEqual(guarded.inlined.map(({ calls }) => calls), [{ complete: 7, incomplete: 0, unwound: 3 }]);
    const refused = guarded.children.find(({ name }) => /refuse_fourth/.test(name));
    assert.equal(refused.calls, 7);
  });

  test("a function inlined into another one is part of it, and both are counted", () => {
    const twice = json(["report", "--json", "--function", "sums::mix_twice", file]);
    assert.equal(twice.calls.complete, expected.nested);
    const mix = report.inlined.find((row) => /nested/.test(row.function));
    assert.ok(twice.latency.total + expected.nested * (twice.latency.resolution + mix.latency.resolution) >= mix.latency.total);
  });

  test("an address-filtered recording says where, and gives no figures", () => {
    const filtered = path.join(folder, "filtered.data");
    const program = path.join(folder, "inlined");
    output(simulator, ["record", "-e", event, "--filter", `filter _ZN4sums9in_a_loopEm @ ${program}`, "-o", filtered, "--", program, String(count)], { env: { ...process.env, LD_BIND_NOW: "1" } });
    const { calls, inlined, recording } = json(["report", "--json", "--function", "mix", filtered]);
    assert.deepEqual(calls, { complete: 0, incomplete: 0, unwound: 0 });
    assert.equal(inlined.length, 3);
    assert.ok(inlined.every((row) => row.calls === null && row.latency === null && row.line > 0));
    assert.ok(recording.notes.some(({ code, text }) => code === "inlined_filtered" && text.includes("inlined at 3 places")));
  });

  test("a function that was called and inlined nowhere has no such rows, and an unknown name is an error", () => {
    assert.equal(json(["report", "--json", "--function", "stir", file]).inlined, undefined);
    const { status, stderr } = ptlens(["report", "--function", "mixer", file]);
    assert.equal(status, 1);
    assert.match(stderr, /no function "mixer"/);
  });

  test("the text says where, how often and how exactly", () => {
    const text = output(helper, ["report", "--function", "mix", file]);
    assert.match(text, /Inlined at\n/);
    assert.match(text, /inlined at 3 places: .* known to ± \d+ ns/);
  });
});
