// Runs the programs of test/samples/live alone and under `ptlens record`, for the tests that compare both.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { compile, compiled, hooked, noCompiler, readTruth, shownFigures } from "../samples/live/samples.mjs";
import { helper, json, noProbes, output, ptlens, temporaryFolder } from "./support.mjs";

function whyNoUftrace() {
  if (!ptlens(["record", "--help"]).stdout.includes("uftrace")) return "this ptlens has no backend uftrace";
  return spawnSync("uftrace", ["--version"]).status === 0 ? false : "uftrace is not installed";
}

// uftrace 0.13 does not patch functions of unmodified programs that have a cold part, as those that clean up after exceptions.
// It records some 80,000 calls of memcmp in each round of "words", so that few rounds are enough.
export const engines = [
  { backend: "uprobe", skip: noCompiler || noProbes, options: [], rounds: 40 },
  { backend: "uftrace", skip: noCompiler || whyNoUftrace(), options: hooked, rounds: 4 },
];

/** What a sample says of itself when nothing measures it. */
export function alone(t, sample, args) {
  const file = path.join(temporaryFolder(t), "truth.json");
  output(compile(sample, compiled), ["--truth", file, ...args]);
  return readTruth(file);
}

/** Starts a sample under `ptlens record`. Returns what it says of a function, and what ptlens says of it. */
export function measured(t, { backend, options }, sample, name, args = []) {
  const folder = temporaryFolder(t);
  const [recording, file] = ["recording", "truth.json"].map((each) => path.join(folder, each));
  output(helper, ["record", "--backend", backend, "--function", name, "-o", recording, "--", compile(sample, compiled, options), "--truth", file, ...args]);
  const truth = readTruth(file).functions[name];
  const report = json(["report", "--json", "--function", name, recording]);
  assert.equal(report.recording.backend, backend);
  assert.deepEqual(report.calls, { complete: truth.calls, incomplete: 0, unwound: 0 });
  const shown = shownFigures(report);
  t.diagnostic(`${name}: p50 ${shown.p50}, mean ${shown.mean}, ± ${shown.uncertainty.p50}, ${shown.uncertainty.mean} ns; its own clock: p50 ${truth.p50}, mean ${truth.mean}`);
  return { truth, report, shown };
}
