// Latency without what the probes took: functions that spin for a known time and measure it themselves are reported within the stated
// uncertainty, on a machine that is idle otherwise and on one that is not.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { background, helper, json, noProbes, output, probesWithoutBudget, run, temporaryFolder } from "./support.mjs";

const compiler = process.env.CC ?? "gcc";
const skip = noProbes || (run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run`);
const calls = 300;
const spins = [1_000, 2_000, 20_000, 200_000]; // ns
const runs = 3;

// Spins by the time stamp counter, whose rate is measured first, and prints the median of what it spun, ns.
const source = `
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>
static uint64_t cycles, spun;
__attribute__((noipa)) void spin(void) {
  uint64_t wanted = cycles, begin = __rdtsc(), now;
  while ((now = __rdtsc()) - begin < wanted) {}
  spun = now - begin;
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
static int order(const void* one, const void* other) { double a = *(const double*)one, b = *(const double*)other; return (a > b) - (a < b); }
int main(int count, char** words) {
  static double all[${calls}];
  double start = now(); uint64_t begin = __rdtsc();
  while (now() - start < 5e7) {}
  double rate = (__rdtsc() - begin) / (now() - start);
  cycles = (uint64_t)(rate * atof(words[1]));
  for (int i = 0; i < ${calls}; ++i) { spin(); all[i] = spun / rate; struct timespec rest = {0, 100000}; nanosleep(&rest, NULL); }
  qsort(all, ${calls}, sizeof all[0], order);
  FILE* file = fopen(words[2], "w");
  fprintf(file, "%.0f", all[(${calls} - 1) / 2]);
  fclose(file);
  return count == 0;
}
`;

function compiled(t) {
  const folder = temporaryFolder(t);
  const program = path.join(folder, "spins");
  writeFileSync(path.join(folder, "spins.c"), source);
  // The entry is then a push, which the kernel emulates.
  output(compiler, ["-g", "-O0", "-fcf-protection=none", "-o", program, path.join(folder, "spins.c")]);
  return { folder, program };
}

/** Measures once: what was reported, its uncertainty, and the truth, ns. */
function measure(folder, program, ns, index, returns) {
  const recording = path.join(folder, `recording${ns}.${index}.${returns}`);
  const truth = path.join(folder, "truth");
  output(helper, ["record", ...probesWithoutBudget, "--returns", returns, "--function", "spin", "-o", recording, "--", program, String(ns), truth]);
  const report = json(["report", "--json", "--function", "spin", recording]);
  assert.equal(report.calls.complete, calls);
  const { probes } = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
  const entry = probes.find(({ kind }) => kind === "entry");
  assert.equal(probes.length, 2, "two hits a call");
  assert.ok(entry.latency_ns > 0 && probes.every(({ hit_ns, uncertainty_ns }) => hit_ns > 0 && uncertainty_ns > 0));
  return { reported: report.latency.p50, uncertainty: report.latency.uncertainty.p50, truth: Number(readFileSync(truth, "utf8")) };
}

for (const [load, returns] of [["idle", "auto"], ["idle", "exit"], ["loaded", "auto"]]) {
  test(`functions that spin 1, 2, 20 and 200 us are measured within the stated uncertainty (${load}, --returns ${returns})`, { skip }, (t) => {
    const { folder, program } = compiled(t);
    if (load === "loaded") os.cpus().slice(0, 4).forEach(() => background(t, "sh", ["-c", "while :; do :; done"]));
    const missed = [];
    for (const ns of spins) {
      const measured = Array.from({ length: runs }, (_, index) => measure(folder, program, ns, index, returns));
      for (const { reported, uncertainty, truth } of measured) t.diagnostic(`${truth}: ${reported} ± ${Math.round(uncertainty)}`);
      const errors = measured.map(({ reported, uncertainty, truth }) => Math.abs(reported - truth) / uncertainty).sort((one, other) => one - other);
      const error = errors[Math.floor(runs / 2)];
      if (error > 1) missed.push(`${ns} ns is off by ${error.toFixed(1)} times the uncertainty`);
    }
    assert.deepEqual(missed, []);
  });
}

test("the cost of a hit is measured once, kept, and measured again when the file is broken", { skip }, (t) => {
  const { folder, program } = compiled(t);
  const cache = path.join(folder, "cache");
  const record = (name) => output(helper, ["record", "--backend", "uprobe", "--function", "spin", "-o", path.join(folder, name), "--", program, "1000", path.join(folder, "truth")], { env: { ...process.env, XDG_CACHE_HOME: cache } });
  const file = path.join(cache, "ptlens/probe-cost.json");
  record("first");
  const first = readFileSync(file, "utf8");
  const { boot_id: boot, kernel } = JSON.parse(first);
  assert.equal(boot, readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  assert.equal(kernel, os.release());
  const { mtimeMs } = statSync(file);
  record("second");
  assert.equal(statSync(file).mtimeMs, mtimeMs, "not measured again");
  writeFileSync(file, first.replace(boot, "another"));
  record("third");
  assert.equal(JSON.parse(readFileSync(file, "utf8")).boot_id, boot);
  writeFileSync(file, "{");
  record("fourth");
  assert.equal(JSON.parse(readFileSync(file, "utf8")).boot_id, boot);
});
