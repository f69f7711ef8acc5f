// Small programs for the tests, which build and measure them. Tests can edit their sources and rebuild their binaries.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "./rig.mjs";

const run = (program, args, options) => execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], ...options });

// Call sites are wanted, which uftrace does not record.
function record(program, functionName, output) {
  const { backend } = JSON.parse(run(process.env.PTLENS_HELPER, ["doctor", "--json"]));
  run(process.env.PTLENS_HELPER, ["record", ...(backend === "intel_pt" ? ["--backend", backend] : ["--backend", "uprobe", "--budget", "100"]), "--function", functionName, "-o", output, "--", program]);
}

export const longLines = 20_000;
export const longCallSites = 5_000;

/** Makes a function of 20,000 lines that calls another function on every fourth line. Returns { source, recording }. */
export function makeLongFile(scratch) {
  const folder = path.join(scratch, "long");
  mkdirSync(folder, { recursive: true });
  const source = path.join(folder, "long.c");
  const program = path.join(folder, "long");
  const lines = ["static volatile int sum;", "__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; ++i) sum += i; }", "__attribute__((noinline)) void run_all(void) {"];
  for (let call = 0; call < longCallSites; call += 1) lines.push(`  work(${call % 50});`, `  // line ${call}`, "", `  sum += ${call};`);
  lines.push("}", "int main(void) {", "  run_all();", "  return 0;", "}", "");
  writeFileSync(source, lines.join("\n"));
  run("gcc", ["-g", "-O0", "-o", program, source]);
  const recording = path.join(scratch, "long-recording");
  record(program, "work", recording);
  return { source, recording };
}

/**
 * Makes a program whose function `step` calls `work` from two lines, 200 times and 50 times. Returns `source`, `program`,
 * two recordings, and `build()`, which rebuilds the program with another binary. In the recording `base`, one in four
 * calls of `step` waits for 40 ms; in `recording`, none waits.
 */
export function makeProject(scratch) {
  const folder = path.join(scratch, "project");
  mkdirSync(folder, { recursive: true });
  const source = path.join(folder, "steps.c");
  const program = path.join(folder, "steps");
  writeFileSync(
    source,
    `// Two call sites of one function.
#include <unistd.h>
static volatile long sum;

__attribute__((noinline)) void work(long amount) {
  for (long i = 0; i < amount * SCALE; ++i) sum += i;
  if (amount > 5000 && PAUSE > 0) usleep(PAUSE);
}

__attribute__((noinline)) void step(long number) {
  work(2000);
  if (number % 4 == 0)
    work(8000);
}

int main(void) {
  for (long number = 0; number < 200; ++number) step(number);
  return 0;
}
`,
  );
  const build = (scale, pause = 0) => run("gcc", ["-g", "-O1", `-DSCALE=${scale}`, `-DPAUSE=${pause}`, "-o", program, source]);
  const base = path.join(scratch, "base");
  const recording = path.join(scratch, "steps-recording");
  build(30, 40_000);
  record(program, "step", base);
  build(30);
  record(program, "step", recording);
  return { folder, source, program, base, recording, build };
}

const simulator = process.env.PTSIM ?? path.join(projectRoot, "helper/build/ptsim/ptsim");

/** Makes a simulated trace of the sample with losses. Returns the recording, or undefined without the simulator. */
export function makeLossy(scratch, sample) {
  const libc = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"].find(existsSync);
  if (!existsSync(simulator) || libc === undefined) return undefined;
  const recording = path.join(scratch, "lossy", "perf.data");
  mkdirSync(path.dirname(recording), { recursive: true });
  run(simulator, ["synth", "-o", recording, "--truth", `${recording}.truth`, "--seed", "6", "--calls", "20000", "--threads", "3", "--cpus", "2", "--cyc", "--fault", "truncate:every=30000", sample, libc]);
  return recording;
}

/** Makes a simulated trace of a program with known line times. Returns { source, recording }, or undefined without the simulator. */
export function makeTimed(scratch) {
  if (!existsSync(simulator)) return undefined;
  const folder = path.join(scratch, "timed");
  mkdirSync(folder, { recursive: true });
  const source = path.join(folder, "line_times.c");
  const program = path.join(folder, "line_times");
  const recording = path.join(folder, "perf.data");
  copyFileSync(path.join(projectRoot, "test/samples/line_times.c"), source);
  run("gcc", ["-g", "-O0", "-o", program, source]);
  run(simulator, ["record", "-e", "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u", "--start-at", "main", "-o", recording, "--", program, "40"], {
    env: { ...process.env, LD_BIND_NOW: "1" },
  });
  return { source, recording };
}
