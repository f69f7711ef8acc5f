// Measuring within a budget: what is left out, bursts, and what they say. The programs count their own calls; what breaks the budget here
// breaks it on every machine, because it is called without a pause.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, helper, json, jsonLines, noProbes, output, run, temporaryFolder } from "./support.mjs";

const skip = noProbes;

// "busy" calls a callee 20,000 times each 20 ms; "hot" calls a function that does nothing without a pause.
const source = `
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noipa)) void often(void) { __asm__ volatile(""); }
__attribute__((noipa)) void seldom(void) { __asm__ volatile(""); }
__attribute__((noipa)) void busy(void) { for (int i = 0; i < 20000; ++i) often(); seldom(); __asm__ volatile(""); }
__attribute__((noipa)) void hot(void) { __asm__ volatile(""); }
__attribute__((noipa)) void inner(void) { hot(); __asm__ volatile(""); }
int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "busy") == 0) for (;;) { busy(); usleep(20000); }
  for (;;) inner();
}
`;

function started(t, mode) {
  const folder = temporaryFolder(t);
  const program = path.join(folder, "program");
  writeFileSync(path.join(folder, "program.c"), source);
  output(process.env.CC ?? "gcc", ["-O1", "-g", "-fno-optimize-sibling-calls", "-o", program, path.join(folder, "program.c")]);
  return { folder, program, running: background(t, program, [mode]) };
}

function record(folder, target, name, ...options) {
  const recording = path.join(folder, `recording${options.join("")}`);
  const { status, stderr } = run(helper, ["record", "--backend", "uprobe", "--function", name, "-o", recording, "--duration", "1.5", ...options, ...target]);
  assert.equal(status, 0, stderr);
  const manifest = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
  const note = (code) => manifest.notes.find((each) => each.code === code);
  return { recording, manifest, note, report: json(["report", "--json", "--function", name, recording]) };
}

test("a callee that breaks the budget is left out and named, unless the user asks for it", { skip }, (t) => {
  const { folder, running } = started(t, "busy");
  const target = ["--pid", String(running.child.pid)];
  const { report, note, manifest } = record(folder, target, "busy");
  assert.match(note("callees_left_out").text, /often \(\d+ calls\/s\).*--budget 100/);
  assert.ok(!/seldom/.test(note("callees_left_out").text));
  assert.deepEqual(report.children.map(({ name, calls }) => [name, calls]), [["seldom", report.calls.complete]]);
  assert.ok(report.calls.complete > 0);
  assert.equal(report.calls.unwound, 0);
  assert.equal(report.recording.estimate, undefined);
  assert.ok(report.recording.slowdown >= 1 && report.recording.slowdown === manifest.slowdown);
  const forced = record(folder, target, "busy", "--callees", "often");
  assert.ok(!/often/.test(forced.note("callees_left_out")?.text ?? ""));
  const often = json(["functions", "--json", forced.recording]).functions.find(({ name }) => name === "often");
  assert.ok(often.complete > 0);
  const none = record(folder, target, "busy", "--callees", "none");
  assert.deepEqual(none.report.children, []);
});

test("a function that alone breaks the budget is measured in bursts of exact calls", { skip }, (t) => {
  const { folder, running } = started(t, "hot");
  const { report, note, manifest, recording } = record(folder, ["--pid", String(running.child.pid)], "hot");
  assert.ok(note("bursts") ?? note("bursts_begun"), "a note says so");
  const { measured } = manifest;
  assert.ok(measured.length > 1);
  measured.forEach((burst, index) => assert.ok(burst.end_ns >= burst.begin_ns && (index === 0 || burst.begin_ns >= measured[index - 1].end_ns)));
  const { estimate } = report.recording;
  assert.equal(estimate.bursts, measured.length);
  assert.ok(estimate.factor > 1);
  assert.ok(Math.abs(estimate.factor * estimate.measured_ns - report.recording.trace_ns) < 1e-6 * report.recording.trace_ns);
  assert.equal(report.calls.unwound, 0);
  assert.ok(report.calls.complete > 0);
  assert.ok(report.calls.incomplete <= 2 * measured.length, "at most the calls at the two edges of a burst");
  for (const call of jsonLines(output(helper, ["calls", "--function", "hot", "--json-lines", recording])).slice(0, 2000)) {
    const inside = measured.some((burst) => call.start >= burst.begin_ns && call.start + call.latency <= burst.end_ns);
    assert.ok(inside, "no call reaches out of its burst");
  }
  assert.match(output(helper, ["report", "--function", "hot", recording]), /measured in \d+ bursts.*estimate the whole recording/s);
});

test("a started program that breaks the budget is cut back while it is recorded", { skip }, (t) => {
  const { folder, program } = started(t, "busy");
  const { report, note } = record(folder, ["--", program, "hot"], "inner");
  assert.match(note("callees_stopped").text, /--budget 100/);
  assert.match(note("bursts_begun").text, /--budget 100/);
  assert.ok(report.recording.estimate.bursts > 1);
  assert.ok(report.calls.complete > 0);
});

test("a budget that is no percentage is refused", { skip: false }, () => {
  for (const wrong of ["0", "-1", "101", "much"]) assert.equal(run(helper, ["record", "--budget", wrong, "--function", "f", "-o", "/tmp/never", "--", "true"]).status, 2);
  assert.equal(run(helper, ["record", "--returns", "never", "--function", "f", "-o", "/tmp/never", "--", "true"]).status, 2);
});
