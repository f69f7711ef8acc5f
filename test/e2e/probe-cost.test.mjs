// Latency without what the probes took: of a function that spins for a known time, alone and around
// functions that are probed too. `raw` has the figures with it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { helper, json, noProbes, output, run, temporaryFolder } from "./support.mjs";

const compiler = process.env.CC ?? "gcc";
const skip = noProbes || (run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run`);
const calls = 1_000;
const runs = 5;

// Spins by the time stamp counter, whose rate is measured first; "around" calls ten empty functions.
const source = `
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>
static uint64_t cycles;
__attribute__((noipa)) void nothing(void) { __asm__ volatile(""); }
__attribute__((noipa)) void bare(void) {
  uint64_t wanted = cycles; __asm__ volatile("" : "+r"(wanted));
  uint64_t begin = __rdtsc(); while (__rdtsc() - begin < wanted) {}
}
__attribute__((noipa)) void alone(void) {
  if (cycles == 0) return;
  uint64_t begin = __rdtsc(); while (__rdtsc() - begin < cycles) {}
}
__attribute__((noipa)) void around(void) {
  if (cycles == 0) return;
  uint64_t begin = __rdtsc(); while (__rdtsc() - begin < cycles) {}
  for (int i = 0; i < 10; ++i) nothing();
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(int count, char** words) {
  double start = now(); uint64_t begin = __rdtsc();
  while (now() - start < 5e7) {}
  cycles = (uint64_t)((__rdtsc() - begin) / (now() - start) * atof(words[1]));
  for (int i = 0; i < ${calls}; ++i) { bare(); alone(); around(); }
  return count == 0;
}
`;

const median = (values) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)];

// After a hit, the kernel emulates push and jumps, and steps over a copy of endbr64, which in a virtual machine
// takes a time that depends on the host. Probes are set at an emulated instruction if every call executes one:
// in all functions except "bare" after endbr64.
const starts = { push: ["-O0", "-fcf-protection=none"], endbr64: ["-O2", "-fcf-protection=full"] };
const cases = Object.keys(starts).flatMap((start) => [["alone", 2_000], ["alone", 5_000], ["alone", 50_000], ["around", 100_000], ["bare", 2_000]].map((each) => [start, ...each]));
const tolerance = 0.1;

/** The median over the runs of what is found for a function: p50 of the calls and its uncertainty. */
function measured(t, start, name, ns) {
  const folder = temporaryFolder(t);
  const file = path.join(folder, "spins.c");
  const program = path.join(folder, "spins");
  writeFileSync(file, source);
  output(compiler, ["-g", ...starts[start], "-o", program, file]);
  const corrected = [];
  const raw = [];
  const uncertainty = [];
  for (let index = 0; index < runs; index += 1) {
    const recording = path.join(folder, `recording${index}`);
    output(helper, ["record", "--backend", "uprobe", "--function", name, "-o", recording, "--", program, String(ns)]);
    const report = json(["report", "--json", "--function", name, recording]);
    assert.equal(report.calls.complete, calls);
    assert.ok(report.latency.mean < report.raw.latency.mean);
    corrected.push(report.latency.p50);
    raw.push(report.raw.latency.p50);
    uncertainty.push(report.latency.uncertainty.p50);
  }
  t.diagnostic(`corrected ${corrected}, each ± ${uncertainty.map(Math.round)}, raw ${raw}`);
  return { corrected: median(corrected), uncertainty: median(uncertainty) };
}

// Two functions of one name, of 2 and of 6 us.
const overloads = `
#include <cstdint>
#include <ctime>
#include <x86intrin.h>
static double rate;
struct Short {};
struct Long {};
__attribute__((always_inline)) static inline void spin(double ns) { uint64_t begin = __rdtsc(); while ((__rdtsc() - begin) < ns * rate) {} }
__attribute__((noipa)) void wait_for(Short) { spin(2000); __asm__ volatile(""); }
__attribute__((noipa)) void wait_for(Long) { spin(6000); __asm__ volatile(""); }
static double now() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main() {
  double start = now(); uint64_t begin = __rdtsc();
  while (now() - start < 5e7) {}
  rate = (__rdtsc() - begin) / (now() - start);
  for (int i = 0; i < 500; ++i) { wait_for(Short()); wait_for(Long()); }
}
`;

test("functions of one name together: each without the cost of its own probes", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, "overloads.cpp");
  const program = path.join(folder, "overloads");
  const recording = path.join(folder, "recording");
  writeFileSync(file, overloads);
  output(process.env.CXX ?? "g++", ["-g", "-O0", "-fcf-protection=none", "-o", program, file]);
  output(helper, ["record", "--backend", "uprobe", "--all", "--function", "wait_for", "-o", recording, "--", program]);
  const report = json(["report", "--json", "--all", "--function", "wait_for", recording]);
  assert.equal(report.instances.length, 2);
  assert.equal(report.calls.complete, calls);
  const { p90 } = report.latency;
  const uncertainty = report.latency.uncertainty.p90;
  t.diagnostic(`corrected ${p90} ± ${Math.round(uncertainty)}, raw ${report.raw.latency.p90}`);
  assert.ok(Math.abs(p90 - 6_000) <= Math.max(tolerance * 6_000, uncertainty), `${p90} instead of 6000`);
  assert.ok(report.latency.mean < report.raw.latency.mean);
});

// On a quiet machine the error is some per cent. What a hit costs changes with what the other processors do, which is
// measured in the calls themselves, except for the return to the program: where that differs from the calibration's, the
// uncertainty must say so.
for (const [start, name, ns] of cases) {
  test(`${name}, behind ${start}: ${ns} ns are measured within ${tolerance * 100} % or the reported uncertainty, median of ${runs} runs`, { skip }, (t) => {
    const { corrected, uncertainty } = measured(t, start, name, ns);
    const error = Math.abs(corrected - ns);
    t.diagnostic(`off by ${((100 * error) / ns).toFixed(1)} %`);
    assert.ok(error <= Math.max(tolerance * ns, uncertainty), `${corrected} ± ${uncertainty} ns instead of ${ns} ns`);
  });
}
