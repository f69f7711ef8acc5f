// What is said of figures that probes measured: how well they are known, what is not known, and the raw ones beside.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { helper, json, noProbes, output, probesWithoutBudget, run } from "./support.mjs";

const compiler = process.env.CXX ?? "g++";
const skip = noProbes || (run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run`);
const rounds = 50;
const sleepNs = 3_000_000;

// throws() ends by an exception, after it called checks(); its caller then sleeps. through() calls a function that no
// disassembly shows; leaf() calls nothing.
const source = `
#include <unistd.h>
#define OWN extern "C" __attribute__((noipa))
OWN void checks() { __asm__ volatile(""); }
OWN void throws() { checks(); throw 1; }
static int (*volatile sleeps)(unsigned) = usleep; // no probe is set there
OWN void catches() { try { throws(); } catch (int) {} sleeps(${sleepNs / 1000}); }
OWN void leaf() { for (volatile int i = 0; i < 100; i = i + 1) {} }
OWN void through(void (*called)()) { called(); __asm__ volatile(""); }
OWN void round() { leaf(); through(checks); catches(); }
int main() { for (int i = 0; i < ${rounds}; ++i) round(); }
`;

let folder = "";
const recordings = {};

/** Records a function, once. */
function recorded(name) {
  recordings[name] ??= path.join(folder, name);
  return recordings[name];
}

before(() => {
  if (skip) return;
  folder = mkdtempSync(path.join(tmpdir(), "ptlens-figures-"));
  writeFileSync(path.join(folder, "figures.cpp"), source);
  output(compiler, ["-g", "-O1", "-fcf-protection=none", "-o", path.join(folder, "figures"), path.join(folder, "figures.cpp")]);
  for (const name of ["catches", "round"]) {
    output(helper, ["record", ...probesWithoutBudget, "--function", name, "-o", recorded(name), "--", path.join(folder, "figures")]);
  }
});
after(() => {
  if (folder !== "") rmSync(folder, { recursive: true });
});

test("an unwound call has bounds, no latency, and no frame of its own", { skip }, () => {
  const recording = recorded("catches");
  const report = json(["report", "--json", "--function", "throws", recording]);
  assert.deepEqual(report.calls, { complete: 0, incomplete: 0, unwound: rounds });
  assert.equal(report.latency.total, 0);
  const calls = output(helper, ["calls", "--json-lines", "--function", "throws", recording]).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(calls.length, rounds);
  const longest = json(["report", "--json", "--function", "catches", recording]).raw.latency.max;
  for (const { state, latency, self, bounds } of calls) {
    assert.equal(state, "unwound");
    assert.equal(latency, null);
    assert.equal(self, null);
    const [least, most] = bounds;
    assert.ok(least < most, `${least} to ${most}`);
    assert.ok(most <= longest, `it ended before its caller: ${most}, ${longest}`);
  }
  const flame = json(["flame", "--format", "json", recording]);
  assert.deepEqual(flame.functions.filter(({ name }) => name === "throws"), [], "what it called has no probes");
  assert.ok(flame.functions.some(({ name }) => name === "catches"));
});

test("every figure has its uncertainty, and is neither 0 nor below it without a word", { skip }, () => {
  for (const [recording, name] of [["round", "round"], ["round", "leaf"], ["round", "through"], ["catches", "catches"]]) {
    const { recording: about, latency, raw, calls } = json(["report", "--json", "--function", name, recorded(recording)]);
    assert.equal(calls.complete, rounds);
    assert.ok(about.slowdown >= 1, `${about.slowdown}`);
    assert.ok(about.resolution_ns > 1, "not the clock's nanosecond");
    for (const figure of ["mean", "min", "p50", "p90", "p99", "p999", "max", "total"]) {
      const within = latency.uncertainty[figure];
      assert.ok(latency[figure] > 0 && within > 0, `${name}.${figure}`);
      assert.ok(latency[figure] >= within, `${name}.${figure} ${latency[figure]} ± ${within}`);
      const bound = latency.below_resolution?.[figure];
      if (latency[figure] === within) assert.equal(bound, 2 * within);
      else assert.equal(bound, undefined);
      if (bound === undefined) assert.ok(raw.latency[figure] > latency[figure], "probes take time");
    }
  }
  // A sleep is far beyond what probes take: 3 ms are known well.
  const { latency } = json(["report", "--json", "--function", "catches", recorded("catches")]);
  assert.ok(latency.min + latency.uncertainty.min >= sleepNs && latency.below_resolution === undefined, JSON.stringify(latency));
});

test("self time is unknown where a callee was not measured", { skip }, () => {
  const of = (name) => json(["report", "--json", "--function", name, recorded("round")]).self;
  assert.deepEqual(of("through"), { mean: null, total: null, unknown: "some callees were not measured" });
  assert.ok(of("leaf").mean > 0);
  assert.equal(of("catches").mean, null, "it calls through a pointer");
  const rows = json(["functions", "--json", recorded("round")]).functions;
  assert.equal(rows.find(({ name }) => name === "through").self, null);
  const table = output(helper, ["functions", recorded("round")]);
  assert.match(table, /^measured with probes: the program ran (less than |at least )?[\d.,]+× slower$/m);
  assert.match(table, /—: unknown, some callees were not measured/);
});

test("a report can be on several functions: their reports one after another, in JSON a list", { skip }, () => {
  const report = (names, ...more) => output(helper, ["report", ...names.flatMap((name) => ["--function", name]), ...more, recorded("round")]);
  assert.equal(report(["through", "leaf"]), `${report(["through"])}\n${report(["leaf"])}`);
  assert.deepEqual(JSON.parse(report(["through", "leaf"], "--json")), [JSON.parse(report(["through"], "--json")), JSON.parse(report(["leaf"], "--json"))]);
  const { status, stdout, stderr } = run(helper, ["report", "--function", "through", "--function", "nothing", recorded("round")]);
  assert.equal(status, 1);
  assert.equal(stdout, "", "all or none");
  assert.match(stderr, /nothing/);
});

test("the report says how it was measured, and shows raw figures only when asked", { skip }, () => {
  const text = (...more) => output(helper, ["report", "--function", "through", ...more, recorded("round")]);
  assert.match(text(), /measured with probes: the program ran (less than |at least )?[\d.,]+× slower/);
  assert.match(text(), /Self {6}unknown: some callees were not measured/);
  assert.doesNotMatch(text(), /Raw /);
  assert.match(text("--raw"), /Raw {7}mean .*: with the time of the probes/);
});
