// A function that was measured and not called is an answer: no call. A function that was not measured is none.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { json, noProbes, probesWithoutBudget, ptlens, run, simulator, temporaryFolder } from "./support.mjs";

const noSimulator = existsSync(simulator) ? false : `${simulator} is not built`;
const busyCalls = 40;

function makeProgram(folder) {
  const source = path.join(folder, "quiet.c");
  const program = path.join(folder, "quiet");
  const text = `static volatile int sum;
__attribute__((noipa)) void quiet(int value) { sum += value; sum ^= value; sum -= 1; }
__attribute__((noipa)) void idle(int value) { sum -= value; sum ^= value; sum -= 2; }
__attribute__((noipa)) void busy(int value) { sum ^= value; sum ^= value; sum -= 3; }
__attribute__((noipa)) void tiny(void) {}
int main(int count, char **arguments) {
  for (int i = 0; i < ${busyCalls}; ++i) busy(i);
  if (count > 5) { quiet(count); idle(count); tiny(); }
  return arguments == 0;
}
`;
  writeFileSync(source, text);
  execFileSync("gcc", ["-g", "-O1", "-o", program, source]);
  return { program, lineOfQuiet: 1 + text.split("\n").findIndex((line) => line.includes("void quiet")) };
}

const backends = [
  { name: "probes", skip: noProbes, options: probesWithoutBudget },
  { name: "uftrace", skip: run("uftrace", ["--version"]).status === 0 ? false : "uftrace is not installed", options: ["--backend", "uftrace"] },
  { name: "a trace", skip: noSimulator, options: ["--backend", "intel_pt", "--perf", simulator] },
];

for (const { name, skip, options } of backends) {
  test(`with ${name}, of two functions one is counted and the other was not called`, { skip }, (t) => {
    const folder = temporaryFolder(t);
    const { program, lineOfQuiet } = makeProgram(folder);
    const recording = path.join(folder, "recording");
    const recorded = ptlens(["record", ...options, "--function", "busy", "--function", "quiet", "-o", recording, "--", program]);
    assert.equal(recorded.status, 0, recorded.stderr);
    const report = (of) => json(["report", recording, "--function", of, "--json"]);
    assert.deepEqual([report("busy").calls.complete, report("busy").not_called], [busyCalls, undefined]);
    const quiet = report("quiet");
    assert.deepEqual([quiet.calls, quiet.not_called], [{ complete: 0, incomplete: 0, unwound: 0 }, true]);
    assert.deepEqual([quiet.function.binary, quiet.function.line], [program, lineOfQuiet]);
    assert.match(ptlens(["report", recording, "--function", "quiet"]).stdout, /^quiet was not called in \d/);
    assert.equal(ptlens(["report", recording, "--function", "nothing_like_it"]).status, 1);
    // A function that was not measured is not said to be one that was not called. Probes know main as a caller.
    assert.equal(ptlens(["report", recording, "--function", "idle"]).status, 1);
    if (name === "probes") assert.equal(report("main").not_called, undefined);
  });
}

test("a function that uftrace could not patch is not said to be one that was not called", { skip: backends[1].skip }, (t) => {
  const folder = temporaryFolder(t);
  const { program } = makeProgram(folder);
  const recording = path.join(folder, "recording");
  const recorded = ptlens(["record", ...backends[1].options, "--function", "busy", "--function", "tiny", "-o", recording, "--", program]);
  assert.equal(recorded.status, 0, recorded.stderr);
  const { status, stderr } = ptlens(["report", recording, "--function", "tiny"]);
  assert.equal(status, 1, stderr);
  assert.match(stderr, /could not patch/);
});
