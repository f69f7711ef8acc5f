// Who ends the waits of a process that is recorded by its number, where that is another process or an interrupt (test/samples/outside.c).
import assert from "node:assert/strict";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { helper, json, jsonLines, noProbes, output, probesWithoutBudget, root } from "./support.mjs";

function whyNoTracepoints() {
  try {
    accessSync("/sys/kernel/tracing/events/sched/sched_waking/id", constants.R_OK);
    return false;
  } catch {
    return "the scheduler's tracepoints cannot be read";
  }
}

const functions = ["read_pipe", "read_local_socket", "read_remote_socket", "await_word", "read_letter", "read_late", "nap"];

describe("wakers outside the process", { skip: noProbes || whyNoTracepoints() }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-outside-"));
  const recording = path.join(folder, "recording");
  let pid, deliverer, running;
  before(async () => {
    const program = path.join(folder, "outside");
    output("gcc", ["-O2", "-g", "-pthread", "-o", program, path.join(root, "test/samples/outside.c")]);
    running = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
    const [line] = await once(running.stdout, "data");
    [pid, deliverer] = String(line).trim().split(" ").map(Number);
    output(helper, ["record", ...probesWithoutBudget, "--pid", String(pid), "--duration", "4s", "-o", recording,
      ...functions.flatMap((name) => ["--function", name])]);
  });
  after(() => {
    running?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  const waitsOf = (name) => json(["waits", "--json", "--function", name, recording]).waits;
  // The rows of the wait itself, without missing pages and lost processors.
  const rowsOf = (name, reason) => waitsOf(name).rows.filter((row) => row.reason === reason);
  const wakersOf = (name, reason) => rowsOf(name, reason).flatMap(({ wakers }) => wakers);
  const intervals = (rows) => rows.reduce((sum, row) => sum + row.intervals, 0);

  for (const [name, reason] of Object.entries({ read_pipe: "pipe", read_local_socket: "network", read_remote_socket: "network", await_word: "lock" })) {
    test(`each wait in ${name} was ended by the deliverer`, () => {
      const rows = rowsOf(name, reason);
      assert.ok(intervals(rows) > 10, JSON.stringify(waitsOf(name).reasons));
      const wakers = wakersOf(name, reason);
      const made = wakers.filter((waker) => waker.process === "deliverer");
      assert.equal(intervals(made), intervals(rows), JSON.stringify(wakers));
      for (const waker of made) assert.deepEqual([waker.kind, waker.thread, waker.tid, waker.pid, waker.processes, waker.likely], ["thread", "deliverer", deliverer, deliverer, 1, false]);
      assert.match(output(helper, ["waits", "--function", name, recording]), new RegExp(`woken by process \`deliverer\` \\(${deliverer}\\)`));
    });
  }

  test("processes that wrote once and ended are named", () => {
    const rows = rowsOf("read_letter", "pipe");
    const wakers = wakersOf("read_letter", "pipe");
    const made = wakers.filter(({ process: name }) => name === "courier");
    assert.ok(intervals(rows) > 5);
    assert.equal(intervals(made), intervals(rows), JSON.stringify(wakers));
    assert.ok(made.every(({ processes, intervals: each }) => processes === each), "each courier writes once");
    assert.match(output(helper, ["waits", "--function", "read_letter", recording]), /woken by \d+ processes `courier`/);
  });

  test("threads that began while it was recorded are woken by name too", () => {
    const wakers = wakersOf("read_late", "pipe");
    const made = wakers.filter(({ process: name }) => name === "late feeder");
    assert.ok(intervals(made) > 0, JSON.stringify(wakers));
    assert.deepEqual(wakers.filter(({ kind }) => kind === "thread"), made);
  });

  test("a timer's interrupt is no process, whichever process it interrupted", () => {
    const wakers = wakersOf("nap", "sleep");
    assert.ok(intervals(wakers) > 10);
    for (const waker of wakers) assert.deepEqual([waker.kind, waker.interrupt, waker.process], ["interrupt", "timer", ""], JSON.stringify(waker));
  });

  test("explain and the time line name the other process", () => {
    const { explain } = json(["explain", "--json", "--function", "read_pipe", "--slow", "p50", "--typical", "p0-p40", recording]);
    const blocked = explain.components.find(({ wait }) => wait?.wakers?.length > 0);
    assert.deepEqual([blocked.wait.wakers[0].process, blocked.wait.wakers[0].pid], ["deliverer", deliverer]);
    assert.ok(explain.sentence.includes(`woken by process \`deliverer\` (${deliverer})`), explain.sentence);
    const calls = jsonLines(output(helper, ["calls", "--json-lines", "--function", "read_pipe", "--waited", "pipe", recording]));
    const named = ["--function", "read_pipe", "--call", `${calls[0].tid}:${calls[0].start}`, recording];
    const wait = json(["timeline", "--json", ...named]).timeline.waits.find(({ reason }) => reason === "pipe");
    assert.deepEqual([wait.waker.process, wait.waker.pid, wait.waker.text], ["deliverer", deliverer, `woken by process \`deliverer\` (${deliverer})`]);
    assert.ok(output(helper, ["timeline", ...named]).includes(wait.waker.text));
  });

  test("the other process is not part of the recording", () => {
    const { functions: measured } = json(["functions", "--json", recording]);
    assert.ok(measured.length > 0);
    for (const call of jsonLines(output(helper, ["calls", "--json-lines", "--function", "read_pipe", recording]))) assert.equal(call.tid, pid);
  });
});
