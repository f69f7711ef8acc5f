// A bundle opens where the binaries and the recording are gone, and gives the same report.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { helper, json, noProbes, noteOf, orderServer, output, probesWithoutBudget, run, simulator, temporaryFolder } from "./support.mjs";

const strip = "strip";
const objcopy = "objcopy";
const hasTools = run(strip, ["--version"]).status === 0 && run(objcopy, ["--version"]).status === 0;

// The program in a folder of its own, its debug information in a separate file as distributions ship it.
function installSplit(folder) {
  const program = path.join(folder, "server/order_server");
  mkdirSync(path.dirname(program));
  copyFileSync(orderServer, program);
  const debug = path.join(folder, "server/order_server.dbg");
  output(objcopy, ["--only-keep-debug", program, debug]);
  output(strip, ["--strip-debug", program]);
  output(objcopy, [`--add-gnu-debuglink=${debug}`, program], { cwd: path.dirname(program) });
  return program;
}

// Returns a report without the location of its recording.
function answers(recording) {
  const report = json(["report", "--json", "--function", "handle_order", recording]);
  const functions = json(["functions", "--json", recording]);
  const lines = json(["lines", "--json", "--file", "order_server.cpp", recording]);
  for (const answer of [report, functions, lines]) delete answer.recording.path;
  return { report, functions, lines };
}

for (const [name, skip, options] of [
  ["probes", noProbes || (hasTools ? false : "binutils are not installed"), probesWithoutBudget],
  ["a trace", (existsSync(simulator) ? false : `${simulator} is not built`) || (hasTools ? false : "binutils are not installed"),
    ["--backend", "intel_pt", "--perf", simulator]],
]) {
  test(`a bundle of a recording by ${name}, opened without its binaries`, { skip }, (t) => {
    const folder = temporaryFolder(t);
    const program = installSplit(folder);
    const recording = path.join(folder, "recording");
    const bundle = path.join(folder, "recording.ptlens");
    output(helper, ["record", ...options, "--function", "handle_order", "-o", recording, "--", program, "--orders", "60", "--threads", "1", "--rate", "0"]);
    const before = answers(recording);
    assert.ok(before.report.calls.complete > 0 && before.report.function.line > 0);
    const made = JSON.parse(output(helper, ["bundle", "--json", recording, "-o", bundle]));
    assert.equal(made.path, bundle);
    assert.ok(made.files.some((file) => file.path === program));
    assert.ok(made.files.some((file) => /libc\.so/.test(file.path)));
    rmSync(path.dirname(program), { recursive: true });
    rmSync(recording, { recursive: true });
    assert.deepEqual(answers(bundle), before);
    assert.equal(run(helper, ["bundle", bundle, "-o", bundle]).status, 1, "an existing file is not overwritten");
  });
}

test("a bundle that was cut says so", { skip: noProbes }, (t) => {
  const folder = temporaryFolder(t);
  const recording = path.join(folder, "recording");
  const bundle = path.join(folder, "bundle");
  output(helper, ["record", ...probesWithoutBudget, "--function", "handle_order", "-o", recording, "--", orderServer, "--orders", "5", "--threads", "1"]);
  output(helper, ["bundle", recording, "-o", bundle]);
  const bytes = readFileSync(bundle);
  for (const [name, damaged] of [
    ["cut", bytes.subarray(0, bytes.length / 2)],
    ["empty", bytes.subarray(0, 4)],
  ]) {
    const file = path.join(folder, name);
    writeFileSync(file, damaged);
    const { status, stderr } = run(helper, ["functions", file]);
    assert.equal(status, 1, name);
    assert.match(stderr, new RegExp(`^ptlens: .*${name}.*\\n$`));
  }
});

test("a source map puts the sources where they are here", { skip: noProbes }, (t) => {
  const folder = temporaryFolder(t);
  const built = path.join(folder, "built");
  mkdirSync(built);
  writeFileSync(path.join(built, "spin.c"), "__attribute__((noipa)) int spin(int n) { return n + 1; }\nint main(int n, char** a) { return spin(n) > 100 && a; }\n");
  const program = path.join(built, "spin");
  output(process.env.CC ?? "gcc", ["-g", "-O1", "-o", program, path.join(built, "spin.c")]);
  const recording = path.join(folder, "recording");
  const bundle = path.join(folder, "moved.ptlens");
  output(helper, ["record", ...probesWithoutBudget, "--function", "spin", "-o", recording, "--", program]);
  output(helper, ["bundle", recording, "-o", bundle]);
  const here = path.join(folder, "here");
  mkdirSync(here);
  copyFileSync(path.join(built, "spin.c"), path.join(here, "spin.c"));
  rmSync(built, { recursive: true });
  const unmapped = json(["report", "--json", "--function", "spin", bundle]);
  assert.equal(unmapped.function.file, path.join(built, "spin.c"));
  assert.deepEqual(noteOf(unmapped.recording, "absent_sources").arguments, [built]);
  const map = ["--source-map", `${built}=${here}`];
  const mapped = json(["report", "--json", "--function", "spin", ...map, bundle]);
  assert.equal(mapped.function.file, path.join(here, "spin.c"));
  assert.equal(noteOf(mapped.recording, "absent_sources"), undefined);
  const { functions } = json(["lines", "--json", "--file", path.join(here, "spin.c"), ...map, bundle]);
  assert.deepEqual(functions.map(({ name }) => name), ["spin"]);
  assert.equal(run(helper, ["report", "--function", "spin", "--source-map", "nothing", bundle]).status, 2);
});

test("a member that was damaged is named", { skip: noProbes || (run("zstd", ["--version"]).status === 0 ? false : "zstd is not installed") }, (t) => {
  const folder = temporaryFolder(t);
  const recording = path.join(folder, "recording");
  const bundle = path.join(folder, "bundle");
  output(helper, ["record", ...probesWithoutBudget, "--function", "handle_order", "-o", recording, "--", orderServer, "--orders", "5", "--threads", "1"]);
  output(helper, ["bundle", recording, "-o", bundle]);
  const tar = path.join(folder, "bundle.tar");
  output("zstd", ["-q", "-d", bundle, "-o", tar]);
  const bytes = readFileSync(tar);
  const at = bytes.indexOf("ELF", bytes.indexOf("order_server", 512)) + 4000;
  bytes[at] ^= 0xff;
  writeFileSync(tar, bytes);
  const damaged = path.join(folder, "damaged");
  output("zstd", ["-q", tar, "-o", damaged]);
  const { status, stderr } = run(helper, ["functions", damaged]);
  assert.equal(status, 1);
  assert.match(stderr, /damaged: its member \S+ is damaged: its checksum differs/);
});
