// ptlens diff: two recordings of one program, where the second does more in one function. The counts are the
// program's own, the figures those of ptlens report --json.
import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { helper, json, noProbes, output, probesWithoutBudget, ptlens, temporaryFolder } from "./support.mjs";

const text = `static volatile long sum;
__attribute__((noinline)) void slow(void) { for (long i = 0; i < AMOUNT; ++i) sum += i; }
__attribute__((noinline)) void seldom(void) { sum += 1; }
#ifdef FIRST
__attribute__((noinline)) void gone(void) { sum += 2; }
#else
__attribute__((noinline)) void added(void) { sum += 3; }
#endif
__attribute__((noinline)) void run(void) {
  for (int i = 0; i < 300; ++i) slow();
  seldom();
#ifdef FIRST
  gone();
#else
  added();
#endif
}
int main(void) { run(); return 0; }
`;

test("diff reports changes, and only changes", { skip: noProbes }, (t) => {
  const folder = temporaryFolder(t);
  const at = (name) => path.join(folder, name);
  writeFileSync(at("main.c"), text);
  const measure = (options, recording) => {
    output("gcc", ["-g", "-O1", ...options, "-o", at("program"), at("main.c")]);
    output(helper, ["record", ...probesWithoutBudget, "--function", "run", "-o", at(recording), "--", at("program")]);
  };
  measure(["-DFIRST", "-DAMOUNT=2000"], "base");
  measure(["-DAMOUNT=400000"], "now");

  const answer = json(["diff", at("base"), at("now"), "--json"]);
  const of = (name) => answer.functions.find((entry) => entry.name === name);
  assert.equal(of("slow").base.calls.complete, 300);
  assert.equal(of("slow").recording.calls.complete, 300);
  for (const [side, recording] of [["base", "base"], ["recording", "now"]]) {
    // The program was rebuilt after the first recording: the copy in its folder is read.
    const report = json(["report", at(recording), "--function", "slow", "--json"]);
    assert.deepEqual(of("slow")[side].latency, report.latency);
  }
  const { mean, p50, p99 } = of("slow").difference;
  assert.equal(mean.difference_ns, of("slow").recording.latency.mean - of("slow").base.latency.mean);
  assert.equal(mean.verdict, "slower");
  assert.equal(mean.reason, null);
  assert.ok(mean.low_percent > 100 && mean.low_percent < mean.percent && mean.percent < mean.high_percent, "two hundred times the work");
  assert.equal(p50.verdict, "slower");
  assert.deepEqual([p99.verdict, p99.reason], ["cannot_tell", "few_calls"], "300 calls");
  assert.deepEqual([of("seldom").difference.mean.verdict, of("seldom").difference.mean.reason], ["cannot_tell", "few_calls"]);
  assert.deepEqual(answer.notes.map(({ code }) => code), ["one_run"]);
  assert.deepEqual(answer.only_base.map((entry) => entry.name), ["gone"]);
  assert.deepEqual(answer.only_recording.map((entry) => entry.name), ["added"]);

  const one = json(["diff", at("base"), at("now"), "--function", "slow", "--json"]);
  assert.deepEqual(one.functions, [of("slow")]);
  assert.deepEqual(json(["diff", at("base"), at("now"), "--function", "gone", "--json"]).only_base.map((entry) => entry.name), ["gone"]);
  const page = ptlens(["diff", at("base"), at("now")]).stdout;
  assert.match(page, /300\s+300 .*↑ \+.*%.*\[.*\] slower +\? too few calls +slow\n/);
  assert.match(page, /\? too few calls +\? too few calls +seldom\n/);
  assert.match(page, /drift between runs cannot be ruled out/);

  const same = json(["diff", at("now"), at("now"), "--json"]);
  for (const entry of same.functions) {
    assert.equal(entry.difference.mean.difference_ns, 0);
    assert.ok(["no_change", "cannot_tell"].includes(entry.difference.mean.verdict), entry.name);
  }

  // Two runs a side, given as the same recording twice: the same figures, and no note on drift.
  const runs = json(["diff", "--base", at("base"), at("base"), "--now", at("now"), at("now"), "--function", "slow", "--json"]);
  const [both] = runs.functions;
  assert.deepEqual(both.base.runs.map(({ latency }) => latency), [of("slow").base.latency, of("slow").base.latency]);
  assert.equal(both.difference.mean.recording_ns, of("slow").recording.latency.mean);
  // The median: a call that loses its CPU for some milliseconds makes the mean of two runs uncertain.
  assert.equal(both.difference.p50.verdict, "slower");
  assert.deepEqual(runs.notes, []);
  for (const wrong of [[], ["--base", at("base")], [at("base")], [at("base"), at("now"), "--base", at("base"), "--now", at("now")]]) {
    assert.equal(ptlens(["diff", ...wrong]).status, 2, wrong.join(" "));
  }

  const none = ptlens(["diff", at("base"), at("now"), "--function", "nowhere"]);
  assert.equal(none.status, 1);
  assert.match(none.stderr, /nowhere/);
});

test("a recording keeps the binaries that were measured, and none of the system", { skip: noProbes }, (t) => {
  const folder = temporaryFolder(t);
  const program = path.join(folder, "program");
  writeFileSync(`${program}.c`, "__attribute__((noinline)) void f(void) { __asm__ volatile(\"\"); } int main(void) { f(); return 0; }\n");
  output("gcc", ["-g", "-O1", "-o", program, `${program}.c`]);
  const recording = path.join(folder, "recording");
  output(helper, ["record", ...probesWithoutBudget, "--function", "f", "-o", recording, "--", program]);
  assert.ok(existsSync(path.join(recording, program)));
  assert.deepEqual(readdirSync(recording).filter((name) => ["usr", "lib", "lib64"].includes(name)), []);
  output("gcc", ["-g", "-O0", "-DOTHER", "-o", program, `${program}.c`]);
  assert.equal(json(["report", recording, "--function", "f", "--json"]).calls.complete, 1);
});
