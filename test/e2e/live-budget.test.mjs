// Busy programs that know their own latencies (test/samples/live), measured with probes while they run: what the budget leaves
// out and says, and whether the figures agree with the program's own clock. What measuring costs is for `npm run bench -- live`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { compile, compiled, noCompiler, noSqlite, readTruth, shownFigures } from "../samples/live/samples.mjs";
import { background, helper, json, noProbes, noteOf, output, probesOf, run, temporaryFolder, until } from "./support.mjs";

/** Records a second of a running sample. Returns the manifest and the report, and the truth of that run and of a second without a recording. */
async function attached(t, sample, name, { args = [], options = [] } = {}) {
  const folder = temporaryFolder(t);
  const [recording, file, undisturbed] = ["recording", "truth.json", "alone.json"].map((each) => path.join(folder, each));
  const program = compile(sample, compiled);
  output(program, ["--truth", undisturbed, "--seconds", "1", ...args]);
  const running = background(t, program, ["--truth", file, ...args]);
  await until("the sample runs", () => running.text.stdout.includes("running"));
  const recorder = background(t, helper, ["record", "--backend", "uprobe", "--pid", String(running.child.pid), "--function", name, "--duration", "1", "-o", recording, ...options]);
  const { status, stdout, stderr } = await recorder.closed;
  assert.equal(status, 0, stderr);
  assert.deepEqual(probesOf(recorder.child.pid), []);
  running.child.kill("SIGTERM");
  const ended = await running.closed;
  assert.equal(ended.status, 0, `the sample ends well: ${ended.signal} ${ended.stderr}`);
  const report = json(["report", "--json", "--function", name, recording]);
  const manifest = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
  const shown = shownFigures(report);
  const [truth, during] = [undisturbed, file].map((each) => readTruth(each).functions[name]);
  t.diagnostic(`${report.calls.complete} of ${during.calls} calls, p50 ${shown.p50} ± ${shown.uncertainty.p50} ns; its own clock: ${during.p50} ns, alone ${truth.p50} ns`);
  report.recording.notes.forEach(({ code, text }) => t.diagnostic(`${code}: ${text}`));
  assert.ok(report.calls.complete > 0);
  assert.equal(report.calls.unwound, 0);
  assert.ok(report.recording.slowdown >= 1, `slowdown ${report.recording.slowdown}`);
  return { report, manifest, shown, truth, during, list: readTruth(file).list, said: stdout + stderr };
}

/** Checks the median, which may differ by a tenth; means of single seconds depend on what else the machine does. */
function agrees({ p50, uncertainty }, truth) {
  assert.ok(uncertainty.p50 > 0 && Math.abs(p50 - truth.p50) <= 3 * uncertainty.p50 + truth.p50 / 10, `p50 ${p50} ± ${uncertainty.p50} ns, ${truth.p50} ns by its own clock`);
}

/** The dynamic symbols of a library, by address; none for a program. */
function symbolsOf(binary) {
  const lines = run("nm", ["-D", "--defined-only", binary]).stdout.split("\n").map((line) => line.split(" "));
  return new Map(lines.filter(({ length }) => length === 3).map(([address, , name]) => [parseInt(address, 16), name.split("@")[0].replace(/^__/, "")]));
}

/** Checks that callees were left out, and that a note says so, with their rates and the way to measure them. */
function leavesOut({ report, manifest }, names) {
  const note = noteOf(report.recording, "callees_left_out");
  assert.ok(note, "a note says what was left out");
  for (const name of names) assert.match(note.text, new RegExp(`${name}\\b[^,]*?\\d[\\d,.]*[^,]*?(/s|a second)`), `at how many hits a second ${name} was left out`);
  assert.match(note.text, /--callees/);
  assert.deepEqual(report.children.filter((row) => names.includes(row.name)), []);
  assert.equal(report.self.mean, null, "the time of its own is not known");
  const probed = new Set(manifest.probes.map(({ binary, function: address }) => symbolsOf(binary).get(Number(address))));
  for (const name of names) assert.ok(!probed.has(name), `${name} is not probed`);
}

describe("with probes on a running program", { skip: noCompiler || noProbes }, () => {
  test("mutexes that are locked 100 times as often as the function is called are not probed, and a note says so", async (t) => {
    const found = await attached(t, "pages", "look_up");
    leavesOut(found, ["pthread_mutex_lock", "pthread_mutex_unlock"]);
    agrees(found.shown, found.truth);
  });

  test("a callee that the user names is measured though it breaks the budget", async (t) => {
    const { report } = await attached(t, "pages", "look_up", { options: ["--callees", "pthread_mutex_lock"] });
    const [lock] = report.children.filter(({ name }) => name.startsWith("pthread_mutex_lock"));
    assert.ok(lock.calls > 0);
    assert.deepEqual(report.children.filter(({ name }) => name.startsWith("pthread_mutex_unlock")), []);
  });

  test("a function that is called as fast as it goes is measured in bursts, and all figures of the whole are estimates", async (t) => {
    const { report, shown, truth } = await attached(t, "loop", "hash_key", { args: ["--rate", "0"] });
    const { estimate, trace_ns: traced } = report.recording;
    assert.ok(estimate.bursts >= 1); // on a busy machine a second has few of them
    assert.ok(estimate.measured_ns > 0 && estimate.measured_ns < traced);
    assert.ok(Math.abs(estimate.factor * estimate.measured_ns - traced) <= 0.1 * traced, `factor ${estimate.factor}`);
    assert.ok(report.recording.notes.some(({ code }) => code.startsWith("bursts")), "a note says so");
    assert.ok(report.calls.incomplete <= 2 * estimate.bursts, `${report.calls.incomplete} calls cut by ${estimate.bursts} bursts`);
    agrees(shown, truth);
  });

  test("a query of SQLite is measured without the function that it calls for each row", { skip: noSqlite }, async (t) => {
    const found = await attached(t, "queries", "run_query", { args: ["--threads", "4"] });
    leavesOut(found, ["sqlite3_step"]);
    // Two hits are a hundredth of a query. How fast the machine is varies by more from second to second: these are the calls in the bursts.
    const isMeasured = ([start, latency]) => found.manifest.measured.some((burst) => start >= burst.begin_ns && start + latency <= burst.end_ns);
    const latencies = found.list.filter(isMeasured).map(([, latency]) => latency).sort((one, other) => one - other);
    agrees(found.shown, { p50: latencies[latencies.length >> 1] });
  });
});
