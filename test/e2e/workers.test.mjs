// Decoding is shared out among threads at PSBs: their number, and where the trace is cut, change nothing.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { noTraces, orderServer, output, helper, ptlens, simulator, temporaryFolder, traces } from "./support.mjs";

const libc = "/lib/x86_64-linux-gnu/libc.so.6";
const why = existsSync(simulator) && existsSync(libc) ? false : "ptsim or the C library is not here";
const configurations = [["--workers", "1"], ["--workers", "2", "--segment", "3000"], ["--workers", "7", "--segment", "256"]];

function assertSame(file, ...more) {
  const questions = [["decode", "--events", "branches"], ["decode", "--events", "calls"], ["functions", "--json", "--no-store"], ["flame", "--no-store"]];
  for (const [command, ...rest] of questions) {
    const [first, ...others] = configurations.map((options) => output(helper, [command, file, ...rest, ...options, ...more]));
    // The order of threads in the list of branches is that in which their runs begin.
    const lines = (text) => (command === "decode" ? text.split("\n").sort() : text);
    for (const other of others) {
      assert.deepEqual(lines(other), lines(first), command);
    }
  }
}

for (const [name, options] of Object.entries({
  "one thread": ["--per-thread", "--cyc"],
  "threads that move between processors": ["--threads", "4", "--cpus", "2", "--slice", "50", "--cyc", "--signals", "0.2"],
  "no cycle packets": ["--threads", "2", "--no-cyc", "--interrupts", "20"],
  "losses": ["--threads", "2", "--cyc", "--fault=ovf:every=5000", "--fault=truncate:every=60000"],
})) {
  test(`any number of workers gives the same result: ${name}`, { skip: why }, (t) => {
    const file = path.join(temporaryFolder(t), "perf.data");
    output(simulator, ["synth", "-o", file, "--seed", "3", "--bytes", "150kb", ...options, orderServer, libc]);
    assertSame(file);
  });
}

test("any number of workers gives the same result for real recordings", { skip: noTraces }, () => {
  for (const name of ["lldb-main", "lldb-multi-core", "lldb-multi-file"]) {
    assertSame(path.join(traces, name, "perf.data"), "--symfs", path.join(traces, name, "symfs"));
  }
});

test("a recording that is verified is cut too", { skip: why }, (t) => {
  const file = path.join(temporaryFolder(t), "perf.data");
  output(simulator, ["synth", "-o", file, "--seed", "5", "--bytes", "60kb", "--threads", "2", "--cyc", orderServer, libc]);
  const { status, stdout } = ptlens(["verify", file, "--segment", "256"]);
  assert.equal(status, 0, stdout);
});
