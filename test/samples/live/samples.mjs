// Compiles and runs the sample programs in this folder, and reads what they say of themselves. The tests and the bench share it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = path.dirname(fileURLToPath(import.meta.url));
const compiler = process.env.CXX ?? "g++";

/** Where the tests find the samples compiled. */
export const compiled = path.resolve(folder, "../../../helper/build/samples/live");

/** Options that leave room for uftrace's hooks in every function. */
export const hooked = ["-fpatchable-function-entry=5"];

export const samples = ["spins", "loop", "matrix", "words", "copy", "pages", "queries"];

const runs = (program, ...args) => spawnSync(program, args, { encoding: "utf8" });

/** Why the samples cannot be compiled, false where they can. */
export const noCompiler = runs(compiler, "--version").status === 0 ? false : `${compiler} does not run`;

/** Why "queries" cannot be compiled, false where it can. */
export const noSqlite = noCompiler || (runs(compiler, "-E", "-include", "sqlite3.h", "-xc++", "/dev/null").status === 0 ? false : "sqlite3.h is missing: install libsqlite3-dev");

const changed = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Compiles a sample into a folder, as users compile, -O2 -g, and with more options, unless it is there. Returns the path of the program. */
export function compile(name, target, options = []) {
  const program = path.join(target, name + options.join(""));
  if (readdirSync(folder).every((source) => changed(path.join(folder, source)) < changed(program))) return program;
  mkdirSync(target, { recursive: true });
  const libraries = name === "queries" ? ["-lsqlite3"] : [];
  const { status, stderr } = runs(compiler, "-std=c++20", "-O2", "-g", "-pthread", ...options, "-o", program, path.join(folder, `${name}.cpp`), ...libraries);
  if (status !== 0) throw new Error(`${compiler} cannot compile ${name}.cpp: ${stderr}`);
  return program;
}

/** Compiles all samples, without hooks and with them. */
export function compileAll() {
  const usable = samples.filter((name) => !(name === "queries" ? noSqlite : noCompiler));
  for (const options of [[], hooked]) usable.forEach((name) => compile(name, compiled, options));
}

/** The truth that a sample has written: { seconds, clock_ns, functions by name, done?, timeline? }. */
export function readTruth(file) {
  const truth = JSON.parse(readFileSync(file, "utf8"));
  return { ...truth, functions: Object.fromEntries(truth.functions.map((each) => [each.name, each])) };
}

/** How much work a sample had done at a time of CLOCK_MONOTONIC, in ns. */
export function doneAt({ timeline }, ns) {
  const after = timeline.findIndex(([time]) => time >= ns);
  if (after === 0) return 0;
  if (after === -1) return timeline.at(-1)[1];
  const [[fromTime, from], [toTime, to]] = [timeline[after - 1], timeline[after]];
  return from + ((to - from) * (ns - fromTime)) / (toTime - fromTime);
}

/** Work per second between two times of CLOCK_MONOTONIC, in ns. */
export const rateBetween = (truth, from, to) => ((doneAt(truth, to) - doneAt(truth, from)) * 1e9) / (to - from);

/** The figures that users are shown: { mean, p50, p99, uncertainty: the same of each }, in ns. */
export function shownFigures({ latency }) {
  const { mean, p50, p99, resolution: all } = latency;
  return { mean, p50, p99, uncertainty: { mean: all, p50: all, p99: all, ...latency.uncertainty } };
}
