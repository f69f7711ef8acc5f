// A trace of code that the reader of the recording does not have. Emitted branches must still be true, and
// the unknown rest must be a gap. The truth is every branch that was stepped.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { helper, json, jsonLines, noPerf, orderServer, output, run, simulator, temporaryFolder } from "./support.mjs";

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

// wrap() only calls spin() of a library that is missing when the recording is read. The simulator counts a step of the
// program as the same time with and without the library, so that the whole recording knows what wrap()'s own time is.
test("own time is at most what the missing code leaves open, never a figure or 0", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const [library, program, file] = ["libspin.so", "main", "perf.data"].map((name) => path.join(folder, name));
  writeFileSync(path.join(folder, "spin.c"), "int spin(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n");
  writeFileSync(path.join(folder, "main.c"), `int spin(int);
__attribute__((noinline)) int wrap(int n) { return spin(n) + 1; }
__attribute__((noinline)) int own(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(void) { int sum = 0; for (int i = 0; i < 20; i++) sum += wrap(200) + own(200); return sum == 7; }
`);
  output("gcc", ["-g", "-O1", "-shared", "-fPIC", "-o", library, path.join(folder, "spin.c")]);
  output("gcc", ["-g", "-O1", "-o", program, path.join(folder, "main.c"), `-L${folder}`, "-lspin", "-Wl,-rpath,$ORIGIN"]);
  const made = run(simulator, ["record", "-e", event.replace("noretcomp=0", "noretcomp=1"), "--start-at", "main", "-o", file, "--", program], {
    env: { ...process.env, LD_BIND_NOW: "1" },
  });
  assert.equal(made.status, 0, made.stderr);
  const rows = () => new Map(json(["functions", "--json", "--no-cache", file]).functions.map((row) => [row.name, row]));
  const whole = rows();
  rmSync(library);
  const part = rows();

  const truth = whole.get("wrap").self; // all 20 calls, complete
  assert.deepEqual([part.get("wrap").complete, part.get("wrap").incomplete, part.get("wrap").self_at_most], [0, 20, true]);
  assert.ok(part.get("wrap").self > truth, `at most ${part.get("wrap").self} ns, in truth ${truth} ns`);
  assert.equal(part.get("own").self_at_most, undefined, "own() lost nothing");
  for (const [name, { self }] of part) if (name === "[missing code]") assert.equal(self, null);

  const options = ["--function", "wrap", "--no-cache", file];
  assert.deepEqual(json(["report", "--json", ...options]).self, { mean: null, total: null, unknown: "some callees were not measured" });
  for (const call of jsonLines(output(helper, ["calls", "--json-lines", ...options]))) assert.equal(call.self, null);
  const flame = json(["flame", "--format", "json", ...options]);
  assert.equal(flame.functions.find(({ name }) => name === "wrap").self_unknown, true);
  const text = output(helper, ["functions", "--no-cache", file]);
  assert.match(text, /≤ \S+ \S+ .* wrap /);
  assert.match(text, /--symfs FOLDER/);
  const { missing } = json(["functions", "--json", "--no-cache", file]).recording;
  assert.ok(missing.some(({ path: named, reason }) => named === library && !reason.includes("--")), "the reason names no option");
});
