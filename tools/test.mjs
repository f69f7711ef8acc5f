// npm test: sets up, builds, and runs every ring of tests. The last line is the total,
// "N passed, N failed, N skipped"; the exit status is 1 when anything failed. Workers share the jobs: one begins with the
// editor's tests, which mostly wait, and another builds and runs the unit tests. Tests that compare times of running
// programs come last, one at a time. A job's output is printed when the job ends.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { at, cpuTimes, isMain, main, runLines, sampleSource, say, StepError, together } from "./steps.mjs";
import { installEditor, setUp } from "./setup.mjs";
import { buildBundles, buildNative } from "./build.mjs";
import { fastChecks } from "./lint.mjs";

const jobLimit = 1200; // s; on two busy cores the editor's tests, the longest job, take 600

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

// GoogleTest programs through ctest. Each case counts; a program that dies counts as one failure.
async function unitTests(scratch, print) {
  const folder = path.join(scratch, "unit") + path.sep;
  const status = await runLines(
    "ctest",
    ["--test-dir", at("helper/build"), "--output-on-failure", "--no-tests=error", "--timeout", "600", "--parallel", "2"],
    print,
    { limit: jobLimit, env: { ...process.env, GTEST_OUTPUT: `json:${folder}` } },
  );
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    for (const test of readJson(path.join(folder, name)).testsuites.flatMap((suite) => suite.testsuite)) {
      if (test.result === "SKIPPED" || test.status === "NOTRUN") {
        total.skipped += 1;
        print(`skipped: ${test.classname}.${test.name}`);
      } else if (test.failures) {
        total.failed += 1;
      } else {
        total.passed += 1;
      }
    }
  }
  if (status !== 0 && total.failed === 0) total.failed = 1;
  return total;
}

// A runner of our own: its last "N passed, N failed[, N skipped]" counts.
async function runner(program, args, print) {
  let total;
  const status = await runLines(program, args, (line) => {
    const found = /(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/.exec(line);
    if (found) total = { passed: Number(found[1]), failed: Number(found[2]), skipped: Number(found[3] ?? 0) };
    print(line);
  }, { limit: jobLimit });
  total ??= { passed: status === 0 ? 1 : 0, failed: 0, skipped: 0 };
  if (status !== 0 && total.failed === 0) total.failed = 1;
  return total;
}

async function mochaTests(folder, print) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".test.js"));
  const total = { passed: 0, failed: 0, skipped: 0 };
  const mocha = at("node_modules/mocha/bin/mocha.js");
  const status = await runLines(process.execPath, [mocha, "--reporter", "spec", ...files.map((name) => path.join(folder, name))], (line) => {
    const found = /^\s+(\d+) (passing|failing|pending)\b/.exec(line);
    if (found) total[{ passing: "passed", failing: "failed", pending: "skipped" }[found[2]]] = Number(found[1]);
    print(line);
  }, { limit: jobLimit });
  if (status !== 0 && total.failed === 0) total.failed = 1;
  return total;
}

// One file of end-to-end tests, with Node's own test runner; counts come from its TAP stream.
async function endToEndFile(file, scratch, print) {
  const tap = path.join(scratch, `${file}.tap`);
  const reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout", "--test-reporter=tap", `--test-reporter-destination=${tap}`];
  const status = await runLines(process.execPath, ["--test", ...reporters, at("test/e2e", file)], print, { limit: jobLimit });
  const text = existsSync(tap) ? readFileSync(tap, "utf8") : "";
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
  const failed = count("fail") + count("cancelled");
  return { passed: count("pass"), failed: failed > 0 || status === 0 ? failed : 1, skipped: count("skipped") };
}

// The end-to-end files as jobs. Those that compare times of a running program need the machine for themselves.
function endToEndJobs(scratch) {
  const measuresTime = /^(probe-(budget|cost|figures)|live-(budget|figures|samples)|causes|waits)/;
  const jobs = readdirSync(at("test/e2e"))
    .filter((file) => file.endsWith(".test.mjs"))
    .map((file) => ({ file, name: `End to end: ${file.replace(".test.mjs", "")}`, run: (print) => endToEndFile(file, scratch, print) }));
  return { beside: jobs.filter(({ file }) => !measuresTime.test(file)), alone: jobs.filter(({ file }) => measuresTime.test(file)) };
}

async function runChecks(checks, print) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, skip, run: check } of checks) {
    if (skip) {
      total.skipped += 1;
      print(`skipped: ${name}: ${skip}`);
      continue;
    }
    try {
      check();
      total.passed += 1;
      print(`passed: ${name}`);
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      total.failed += 1;
      print(`FAILED: ${name}`);
    }
  }
  return total;
}

const sampleIsUntouched = (before) => ({
  name: "The tests left the sample program as it was",
  run: () => {
    if (readFileSync(sampleSource, "utf8") !== before) throw new StepError(`a test has changed ${sampleSource}`);
  },
});

const text = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

const seconds = (begin) => Math.round((Date.now() - begin) / 1000);

async function timed(name, work) {
  const begin = Date.now();
  const cpu = cpuTimes(process.pid).children;
  await work();
  say(`${name}: ${seconds(begin)} s, ${Math.round(cpuTimes(process.pid).children - cpu)} s of CPU`);
}

// Takes jobs from the queue, which other workers may share, until it is empty. A job's output is printed when it ends.
async function work(queue, total) {
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
    const lines = [];
    const begin = Date.now();
    say(`${job.name}: running`);
    const counts = await job.run((line) => lines.push(`  ${line}`));
    for (const key of Object.keys(total)) total[key] += counts[key];
    say(["", job.name, ...lines, `${job.name}: ${text(counts)} in ${seconds(begin)} s`].join("\n"));
  }
}

async function test() {
  const begin = Date.now();
  await timed("Set-up", () => setUp({ test: true, editor: true }));
  await timed("Build", () => together(buildNative({ targets: ["ptlens", "ptsim"] }), buildBundles({ tests: true }), installEditor()));
  const sampleBefore = readFileSync(sampleSource, "utf8");
  const scratch = mkdtempSync(path.join(os.tmpdir(), "ptlens-test-"));
  const total = { passed: 0, failed: 0, skipped: 0 };
  const { beside, alone } = endToEndJobs(scratch);
  const editor = { name: "The editor: Mocha in the extension host, Playwright on the workbench", run: (print) => runner(process.execPath, [at("test/editor/run.mjs")], print) };
  const unit = { name: "Unit tests of the helper", run: (print) => unitTests(scratch, print) };
  const shared = [
    { name: "Unit tests of the extension", run: (print) => mochaTests(at("out/extension-unit"), print) },
    { name: "Golden JSON-RPC sessions", run: (print) => runner(process.execPath, [at("test/golden/run.mjs")], print) },
    { name: "Style", run: (print) => runChecks(fastChecks(), print) },
    { name: "Compiling the samples of the live tests", run: (print) => runner(process.execPath, [at("test/samples/live/compile.mjs")], print) },
    ...beside,
  ];
  const sampleCheck = { name: "The sample program", run: (print) => runChecks([sampleIsUntouched(sampleBefore)], print) };
  const inEditor = async () => {
    await work([editor], total);
    await work(shared, total);
  };
  const native = async () => {
    await timed("Build of the unit tests", () => buildNative({ tests: true }));
    await work([unit], total);
    await work(shared, total);
  };
  try {
    await together(inEditor(), native());
    await work([...alone, sampleCheck], total);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  say(`\nAll tests: ${seconds(begin)} s`);
  say(text(total));
  if (total.failed > 0) process.exitCode = 1;
}

if (isMain(import.meta)) await main(test);
