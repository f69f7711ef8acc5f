// A trace of code that the reader of the recording does not have. Emitted branches must still be true, and
// the unknown rest must be a gap. The truth is every branch that was stepped.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { helper, json, noPerf, orderServer, output, run, simulator, temporaryFolder } from "./support.mjs";

const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";
const skip = noPerf || (existsSync(simulator) ? false : `${simulator} is not built`);

// The recording as if made on another machine, whose vdso nobody here has: the host's name in the
// header (a length, then the name) identifies it.
function fromAnotherMachine(file) {
  const bytes = readFileSync(file);
  const name = Buffer.from(`${os.hostname()}\0`);
  let at = -1;
  for (let found = bytes.indexOf(name); found >= 0; found = bytes.indexOf(name, found + 1)) {
    if (found >= 4 && bytes.readUInt32LE(found - 4) >= name.length && bytes.readUInt32LE(found - 4) <= 256) at = found;
  }
  assert.ok(at >= 0, "the recording names its machine");
  bytes.fill("x", at, at + name.length - 1);
  writeFileSync(file, bytes);
}

test("without the vdso's code, every emitted branch was taken, in that order, and the rest is gaps", { skip }, (t) => {
  const file = path.join(temporaryFolder(t), "perf.data");
  const program = [orderServer, "--orders", "120", "--threads", "1", "--rate", "0"];
  const made = run(simulator, ["record", "-e", event, "--start-at", "main", "--branches", "-o", file, "--", ...program], {
    env: { ...process.env, LD_BIND_NOW: "1" },
  });
  assert.equal(made.status, 0, made.stderr);
  const whole = json(["functions", "--json", file]);
  fromAnotherMachine(file);

  const answer = json(["functions", "--json", file]);
  if (whole.recording.missing.length === 0 && answer.recording.missing.length === 0) {
    t.skip("the program did not run through the vdso");
    return;
  }
  assert.ok(answer.recording.missing.some((binary) => binary.path === "[vdso]"));
  assert.ok(answer.recording.gaps > 0);
  assert.equal(answer.recording.decode_errors, 0, "a missing binary is no contradiction");

  const taken = readFileSync(`${file}.truth.branches.tsv`, "utf8").split("\n").filter(Boolean).map((line) => line.split("\t"));
  const emitted = output(helper, ["decode", "--events", "branches", file]);
  let next = 0;
  let compared = 0;
  for (const line of emitted.split("\n").filter(Boolean)) {
    const [, , , kind, from, to] = line.split("\t");
    if (kind === "gap" || kind === "on" || to === "0") continue;
    while (next < taken.length && (taken[next][1] !== from || taken[next][2] !== to)) next += 1;
    assert.ok(next < taken.length, `${kind} ${from} => ${to} was never taken, or not then`);
    next += 1;
    compared += 1;
  }
  assert.ok(compared > taken.length / 2, `${compared} of ${taken.length} branches were found`);
});
