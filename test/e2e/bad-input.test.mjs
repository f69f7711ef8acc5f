// What goes wrong is said in one line on stderr, with the file, the offset where there is one, and what
// to do; the exit status is 1, or 2 for a command line that makes no sense.
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, noPerf, noProbes, noTraces, orderServer, output, ptlens, run, temporaryFolder, traces, until } from "./support.mjs";

// The reason, after checking that it is one line and that nothing else was printed.
function reason(args, options) {
  const { status, signal, stdout, stderr } = ptlens(args, options);
  assert.equal(signal, null, `ended by ${signal}`);
  assert.equal(status, 1, `exit status; stderr: ${stderr}`);
  assert.equal(stdout, "", "stdout carries results only");
  assert.match(stderr, /^[^\n]+\n$/, "one line");
  return stderr.trim();
}

const hasRemedy = (line) => assert.match(line, /; \S+/, `what to do: ${line}`);

function perfData(folder, name = "perf.data") {
  const file = path.join(folder, name);
  output("perf", ["record", "-q", "-e", "task-clock:u", "-o", file, "--", "true"]);
  return file;
}

const readers = [["functions"], ["report", "--function", "main"], ["decode"], ["flame"]];

for (const [command, ...options] of readers) {
  test(`${command}: a file that is no recording`, (t) => {
    const folder = temporaryFolder(t);
    const empty = path.join(folder, "empty.data");
    const text = path.join(folder, "notes.txt");
    writeFileSync(empty, "");
    writeFileSync(text, "These are notes about the order server, not a recording.\n".repeat(20));
    for (const file of [empty, text, path.join(folder, "absent.data"), folder]) {
      const line = reason([command, ...options, file]);
      assert.ok(line.includes(file), `names ${file}: ${line}`);
      hasRemedy(line);
    }
  });

  test(`${command}: a recording without Intel PT and without probes`, { skip: noPerf }, (t) => {
    const file = perfData(temporaryFolder(t));
    const line = reason([command, ...options, file]);
    assert.ok(line.includes(file), line);
    assert.match(line, /Intel PT|Processor Trace/);
    hasRemedy(line);
  });
}

test("a truncated recording: the offset at which it ends too early", { skip: noPerf }, (t) => {
  const folder = temporaryFolder(t);
  const whole = readFileSync(perfData(folder));
  const cut = path.join(folder, "cut.data");
  for (const size of [4, 50, 104, 300, Math.floor(whole.length / 2), whole.length - 1]) {
    writeFileSync(cut, whole.subarray(0, size));
    const line = reason(["functions", cut]);
    assert.ok(line.includes(cut), `${size} bytes: ${line}`);
    assert.match(line, /offset (0x[0-9a-f]+|\d+)/, `${size} bytes: ${line}`);
    hasRemedy(line);
  }
});

test("a truncated recording of Intel PT", { skip: noTraces }, (t) => {
  const folder = temporaryFolder(t);
  const cut = path.join(folder, "cut.data");
  const whole = readFileSync(path.join(traces, "lldb-multi-file/perf.data"));
  for (const part of [0.25, 0.5, 0.9]) {
    writeFileSync(cut, whole.subarray(0, Math.floor(whole.length * part)));
    const line = reason(["functions", cut]);
    assert.ok(line.includes(cut), line);
    assert.match(line, /offset/, line);
    hasRemedy(line);
  }
});

test("a big-endian recording", { skip: noPerf }, (t) => {
  const folder = temporaryFolder(t);
  const bytes = readFileSync(perfData(folder));
  assert.equal(bytes.toString("latin1", 0, 8), "PERFILE2");
  bytes.subarray(0, 8).reverse();
  const file = path.join(folder, "big-endian.data");
  writeFileSync(file, bytes);
  const line = reason(["functions", file]);
  assert.ok(line.includes(file), line);
  assert.match(line, /big-endian/i);
  hasRemedy(line);
});

test("a function that the recording does not hold: the nearest names", { skip: noTraces }, () => {
  const folder = path.join(traces, "lldb-multi-file");
  const line = reason(["report", "--function", "fooo", "--symfs", path.join(folder, "symfs"), path.join(folder, "perf.data")]);
  assert.match(line, /fooo/);
  assert.match(line, /\bfoo\b/);
});

test("a function that the program does not hold: the nearest names", { skip: noProbes }, (t) => {
  const folder = temporaryFolder(t);
  const line = reason(["record", "--function", "price_ordr", "-o", path.join(folder, "r"), "--", orderServer, "--orders", "1", "--threads", "1"]);
  assert.match(line, /price_ordr/);
  assert.match(line, /price_order\b/);
});

test("a process that has gone", (t) => {
  const folder = temporaryFolder(t);
  const gone = Number(output("sh", ["-c", "echo $$"]));
  const line = reason(["record", "--pid", String(gone), "--function", "main", "--duration", "1", "-o", path.join(folder, "r")]);
  assert.match(line, new RegExp(`\\b${gone}\\b`));
  hasRemedy(line);
});

const nobody = 65_534;
const asNobody = { uid: nobody, gid: nobody, env: { PATH: process.env.PATH, HOME: "/nonexistent" } };
const noNobody = process.getuid() !== 0 ? "becoming another user needs root" : noPerf;

// A helper that the other user can execute, wherever the tree is.
function ptlensAsNobody(t, args) {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o777);
  const copy = path.join(folder, "ptlens");
  copyFileSync(process.env.PTLENS_HELPER ?? new URL("../../helper/build/ptlens", import.meta.url), copy);
  chmodSync(copy, 0o755);
  return run(copy, args(folder), { ...asNobody, cwd: folder });
}

test("missing rights: a process of another user", { skip: noNobody }, async (t) => {
  const server = background(t, orderServer, ["--threads", "1", "--seconds", "60"]);
  await until("the order server runs", () => server.text.stdout !== "");
  const { status, stdout, stderr } = ptlensAsNobody(t, (folder) =>
    ["record", "--pid", String(server.child.pid), "--function", "price_order", "--duration", "1", "-o", path.join(folder, "r")]);
  assert.equal(status, 1, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /^[^\n]+\n$/);
  assert.match(stderr, /right|permission|root|not allowed|refuse/i);
  hasRemedy(stderr.trim());
});

test("missing rights: a recording of another user", { skip: noNobody }, (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const file = perfData(folder);
  chmodSync(file, 0o600);
  const { status, stderr } = ptlensAsNobody(t, () => ["functions", file]);
  assert.equal(status, 1, stderr);
  assert.match(stderr, /^[^\n]+\n$/);
  assert.ok(stderr.includes(file), stderr);
  hasRemedy(stderr.trim());
});

test("a recording folder that is taken already", { skip: noProbes }, (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(path.join(folder, "perf.data"), "kept");
  const line = reason(["record", "--function", "price_order", "-o", folder, "--", orderServer, "--orders", "1", "--threads", "1"]);
  assert.ok(line.includes(folder), line);
  hasRemedy(line);
  assert.equal(readFileSync(path.join(folder, "perf.data"), "utf8"), "kept");
});

test("bad usage: exit status 2, and nothing on stdout", () => {
  const wrong = [
    [], ["measure"], ["functions"], ["report"], ["functions", "--jsn", "x"], ["report", "x", "--tid", "many"],
    ["flame", "--format", "painting", "x"], ["record", "-o", "x"], ["record", "--pid", "1", "--tid", "1", "-o", "x"],
    ["record", "--pid", "none", "-o", "x"], ["record", "--backend", "guess", "--pid", "1", "-o", "x"], ["decode", "--events", "all", "x"],
  ];
  for (const args of wrong) {
    const { status, stdout, stderr } = ptlens(args);
    assert.equal(status, 2, `ptlens ${args.join(" ")}: ${stderr}`);
    assert.equal(stdout, "", `ptlens ${args.join(" ")}`);
    assert.notEqual(stderr, "", `ptlens ${args.join(" ")}`);
  }
});
