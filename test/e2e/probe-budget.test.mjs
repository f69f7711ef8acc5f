// Measuring within a budget: what is left out, bursts, and what they say. The programs count their own calls; what breaks the budget here
// breaks it on every machine, because it is called without a pause.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { background, helper, json, jsonLines, noProbes, output, run, temporaryFolder } from "./support.mjs";

const skip = noProbes;

// "busy" calls a callee 20,000 times each 20 ms, "rising" calls it ever more often; "ends" calls it without a pause, and after 20,000 calls
// once a function that ends in it. "hot" calls a function that does nothing without a pause. "work" does the same, and notes every 5 ms
// its calls and its CPU time (CLOCK_MONOTONIC ns, CPU ns, calls).
const source = `
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
__attribute__((noipa)) void often(void) { __asm__ volatile(""); }
__attribute__((noipa)) void seldom(void) { __asm__ volatile(""); }
static long turns = 20000;
__attribute__((noipa)) void busy(void) { for (long i = 0; i < turns; ++i) often(); seldom(); __asm__ volatile(""); }
void ends(void);
__asm__(".type ends, @function\\nends: nop\\nnop\\njmp often\\n.size ends, . - ends\\n");
__attribute__((noipa)) void hot(void) { __asm__ volatile(""); }
__attribute__((noipa)) void inner(void) { hot(); __asm__ volatile(""); }
static volatile sig_atomic_t stopped;
static void stop(int signal) { stopped = signal; }
static double points[30000][3];
static void work(const char* file) {
  int noted = 0; double calls = 0, next = 0; struct timespec time; struct rusage used;
  signal(SIGTERM, stop);
  while (!stopped) {
    for (int i = 0; i < 16; ++i) inner();
    calls += 16;
    clock_gettime(CLOCK_MONOTONIC, &time);
    double now = time.tv_sec * 1e9 + time.tv_nsec;
    if (now < next || noted == 30000) continue;
    getrusage(RUSAGE_SELF, &used);
    double cpu = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3;
    points[noted][0] = now; points[noted][1] = cpu; points[noted++][2] = calls;
    next = now + 5e6;
  }
  FILE* out = fopen(file, "w");
  for (int i = 0; i < noted; ++i) fprintf(out, "%.0f %.0f %.0f\\n", points[i][0], points[i][1], points[i][2]);
  fclose(out);
}
// Twenty calls of busy() that each call often() ten times, then ten that call it 20,000,000 times.
static void rising(const char* file) {
  int calls = 0;
  for (turns = 10; calls < 20; ++calls) { busy(); usleep(10000); }
  for (turns = 20000000; calls < 30; ++calls) busy();
  FILE* out = fopen(file, "w");
  fprintf(out, "%d %d", calls, 20 * 10);
  fclose(out);
}
int main(int count, char** words) {
  if (count > 2 && strcmp(words[1], "work") == 0) { work(words[2]); return 0; }
  if (count > 2) { rising(words[2]); return 0; }
  if (count > 1 && strcmp(words[1], "ends") == 0) for (;;) { for (long i = 0; i < turns; ++i) often(); ends(); }
  if (count > 1 && strcmp(words[1], "busy") == 0) for (;;) { busy(); usleep(20000); }
  for (;;) inner();
}
`;

function started(t, ...modes) {
  const folder = temporaryFolder(t);
  const program = path.join(folder, "program");
  writeFileSync(path.join(folder, "program.c"), source);
  output(process.env.CC ?? "gcc", ["-O1", "-g", "-fno-optimize-sibling-calls", "-o", program, path.join(folder, "program.c")]);
  return { folder, program, running: background(t, program, modes) };
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
  assert.match(note("callees_left_out").text, /often \((more than )?\d+ calls\/s\).*--budget 100/);
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
  assert.ok(measured.length >= 1); // on a busy machine the recording can be over before the second one
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
  assert.match(output(helper, ["report", "--function", "hot", recording]), /measured in \d+ bursts?,.*estimate the whole recording/s);
});

test("without a budget, a function that slows the program is named", { skip }, (t) => {
  const { folder, running } = started(t, "ends");
  const target = ["--pid", String(running.child.pid), "--returns", "exit", "--callees", "none"];
  const { report, note, manifest } = record(folder, target, "ends", "--budget", "100");
  assert.ok(report.calls.complete > 0);
  assert.ok(manifest.slowdown > 2, `${manifest.slowdown}`); // a hit takes a thousand times as long as often
  // 20,000 hits of often for each one of ends.
  assert.match(note("without_budget").text, /ran (at least )?[\d.]+ times slower: 100 % of the hits were in often, where calls of ends end\. .* leave out --budget 100/);
  assert.equal(record(folder, target, "ends", "--budget", "5").note("without_budget"), undefined);
});

test("a started program that breaks the budget is cut back while it is recorded", { skip }, (t) => {
  const { folder, program } = started(t, "busy");
  const { report, note } = record(folder, ["--", program, "hot"], "inner");
  assert.match(note("callees_stopped").text, /--budget 100/);
  assert.match(note("bursts_begun").text, /--budget 100/);
  assert.ok(report.recording.estimate.bursts >= 1);
  assert.ok(report.calls.complete > 0);
});

/** The calls per second of CPU time, between two times. */
function workRate(points, begin, end) {
  const [first, last] = [points.find(([time]) => time >= begin), points.findLast(([time]) => time <= end)];
  return (last[2] - first[2]) / (last[1] - first[1]);
}

test("the budget and the stated slowdown hold for a program that shares its CPUs", { skip }, async (t) => {
  os.cpus().forEach(() => background(t, "sh", ["-c", "while :; do :; done"]));
  const slowdowns = [];
  for (let index = 0; index < 3; ++index) {
    const file = path.join(temporaryFolder(t), "points");
    const { folder, running } = started(t, "work", file);
    await setTimeout(700);
    const before = Number(process.hrtime.bigint()); // CLOCK_MONOTONIC
    const { manifest } = record(folder, ["--pid", String(running.child.pid)], "hot");
    running.child.kill("SIGTERM");
    assert.equal((await running.closed).status, 0);
    const points = readFileSync(file, "utf8").trim().split("\n").map((line) => line.split(" ").map(Number));
    const alone = workRate(points, 0, before);
    const measured = workRate(points, manifest.measured[0].begin_ns, manifest.end_ns);
    slowdowns.push({ own: alone / measured, stated: manifest.slowdown });
    t.diagnostic(`${(alone / measured).toFixed(3)} times slower by its own count, stated ${manifest.slowdown.toFixed(3)}`);
  }
  const median = (values) => values.sort((one, other) => one - other)[1];
  // The budget is 5 %, a slowdown of 1.05; the rest is for what else changes how fast the program runs.
  assert.ok(median(slowdowns.map(({ own }) => own)) < 1.15, "within the budget");
  assert.ok(median(slowdowns.map(({ own, stated }) => own / stated)) < 1.1, "no slower than stated");
});

test("calls that are open when the probes of their callees are removed stay whole", { skip }, (t) => {
  const { folder, program } = started(t, "busy");
  const counted = path.join(folder, "counted");
  const { report, note, recording } = record(folder, ["--", program, "rising", counted], "busy");
  const [calls, calledFirst] = readFileSync(counted, "utf8").split(" ").map(Number);
  assert.match(note("callees_stopped").text, /--budget 100/);
  assert.deepEqual(report.calls, { complete: calls, incomplete: 0, unwound: 0 });
  assert.equal(report.recording.estimate, undefined, "every call was measured");
  assert.equal(report.self.mean, null, "it is not known how long the callees ran");
  assert.ok(report.latency.uncertainty.max < report.latency.max);
  const often = json(["functions", "--json", recording]).functions.find(({ name }) => name === "often");
  assert.ok(often.complete >= calledFirst, `${often.complete} of the first ${calledFirst} calls`);
  assert.ok(often.incomplete <= 1 && often.unwound === 0);
});

test("a budget that is no percentage is refused", { skip: false }, () => {
  for (const wrong of ["0", "-1", "101", "much"]) assert.equal(run(helper, ["record", "--budget", wrong, "--function", "f", "-o", "/tmp/never", "--", "true"]).status, 2);
  assert.equal(run(helper, ["record", "--returns", "never", "--function", "f", "-o", "/tmp/never", "--", "true"]).status, 2);
});
