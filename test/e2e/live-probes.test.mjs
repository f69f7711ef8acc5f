// Real processes measured with probes, judged by the order server's own counts and by the kernel's list
// of probes.
import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  background, childrenOf, expectedCounts, helper, isAlive, json, jsonLines, noProbes, orderServer, output, parseCounts, probesOf, probesWithoutBudget,
  sampleFunction, temporaryFolder, until, untilMeasuring,
} from "./support.mjs";

const audit = 5_000_000; // ns that write_audit sleeps
const skip = noProbes;

// Runs the order server under `ptlens record`, so that not one call is missed.
async function recordStarted(t, name, { orders, threads }) {
  const folder = path.join(temporaryFolder(t), "recording");
  const program = [orderServer, "--orders", String(orders), "--threads", String(threads), "--rate", "0"];
  const recorder = background(t, helper, ["record", ...probesWithoutBudget, "--function", name, "-o", folder, "--", ...program]);
  const { status, stderr } = await recorder.closed;
  assert.equal(status, 0, stderr);
  assert.deepEqual(probesOf(recorder.child.pid), [], "no probe is left");
  return folder;
}

const report = (folder, name, ...options) => json(["report", "--json", "--function", name, ...options, folder]);
const related = (rows, name) => rows.filter((row) => new RegExp(`^shop::${name}\\(`).test(row.name));
const sum = (rows, value) => rows.reduce((total, row) => total + value(row), 0);

test("a function called N times on 4 threads shows N complete calls", { skip }, async (t) => {
  const [orders, threads] = [500, 4];
  const counts = expectedCounts(orders, threads);
  const folder = await recordStarted(t, "handle_order", { orders, threads });
  const answer = report(folder, "handle_order");
  assert.equal(answer.recording.backend, "uprobe");
  assert.deepEqual(answer.calls, { complete: counts.handle_order, incomplete: 0, unwound: 0 });
  assert.equal(answer.threads.length, threads);
  answer.threads.forEach(({ calls }) => assert.equal(calls, orders));
  assert.equal(sum(answer.histogram, ({ calls }) => calls), counts.handle_order);
  assert.equal(sum(answer.children.filter(({ name }) => /accept_order/.test(name)), ({ calls }) => calls), counts.accept_order - counts.rejected);
  assert.equal(sum(related(answer.children, "write_audit"), ({ calls }) => calls), counts.write_audit);
  assert.ok(answer.latency.min <= answer.latency.p50 && answer.latency.p50 <= answer.latency.p99 && answer.latency.p99 <= answer.latency.max);
  assert.ok(Math.abs(answer.latency.mean * counts.handle_order - answer.latency.total) < counts.handle_order);
});

test("a function that sleeps 5 ms is off-CPU for at least 5 ms a call", { skip }, async (t) => {
  const [orders, threads] = [800, 2];
  const counts = expectedCounts(orders, threads);
  const folder = await recordStarted(t, "write_audit", { orders, threads });
  const answer = report(folder, "write_audit");
  assert.equal(answer.calls.complete, counts.write_audit);
  assert.ok(answer.latency.min >= audit, `shortest: ${answer.latency.min} ns`);
  assert.ok(answer.off_cpu.mean >= audit * 0.99, `mean off-CPU: ${answer.off_cpu.mean} ns`);
  assert.equal(answer.off_cpu.calls, counts.write_audit);
  assert.ok(answer.off_cpu.blocked >= answer.off_cpu.total * 0.9, "asleep, not preempted");
  const calls = jsonLines(output(helper, ["calls", "--function", "write_audit", "--json-lines", folder]));
  assert.equal(calls.length, counts.write_audit);
  calls.forEach((call) => assert.ok(call.off_cpu <= call.latency && call.off_cpu >= audit * 0.98, JSON.stringify(call)));
});

test("an exception leaves the functions that it passes through unwound, and the program unharmed", { skip }, async (t) => {
  const [orders, threads] = [400, 2];
  const counts = expectedCounts(orders, threads);
  const folder = await recordStarted(t, "accept_order", { orders, threads });
  const answer = report(folder, "accept_order");
  assert.equal(answer.calls.unwound, counts.rejected);
  assert.equal(answer.calls.complete, counts.accept_order - counts.rejected);
  const { functions } = json(["functions", "--json", folder]);
  const [validate] = sampleFunction(functions, "validate_order");
  assert.deepEqual([validate.complete, validate.unwound], [counts.validate_order - counts.rejected, counts.rejected]);
  const [price] = sampleFunction(functions, "price_order");
  assert.deepEqual([price.complete, price.unwound], [counts.price_order, 0]);
});

test("a caller includes its tail callee, and both are counted", { skip }, async (t) => {
  const [orders, threads] = [300, 2];
  const counts = expectedCounts(orders, threads);
  const folder = await recordStarted(t, "price_order", { orders, threads });
  const answer = report(folder, "price_order");
  assert.deepEqual(answer.calls, { complete: counts.price_order, incomplete: 0, unwound: 0 });
  const tax = related(answer.children, "add_tax");
  assert.equal(sum(tax, ({ calls }) => calls), counts.add_tax);
  const calls = jsonLines(output(helper, ["calls", "--function", "add_tax", "--json-lines", folder]));
  assert.equal(calls.length, counts.add_tax);
  calls.forEach((call) => assert.equal(call.tail_call, true));
  assert.ok(answer.latency.total >= sum(tax, ({ latency }) => latency.total));
});

test("recursion: every activation is counted, inclusive time only once", { skip }, async (t) => {
  const [orders, threads] = [300, 1];
  const counts = expectedCounts(orders, threads);
  const folder = await recordStarted(t, "category_discount", { orders, threads });
  const { recording, functions } = json(["functions", "--json", folder]);
  const [row] = sampleFunction(functions, "category_discount");
  assert.equal(row.complete, counts.category_discount);
  assert.ok(row.inclusive <= recording.trace_ns);
});

test("several functions in one recording: each has all its calls", { skip }, async (t) => {
  const [orders, threads] = [300, 2];
  const counts = expectedCounts(orders, threads);
  const folder = path.join(temporaryFolder(t), "recording");
  const wanted = ["write_audit", "validate_order", "reserve_stock", "shop::reserve_stock"];
  const program = [orderServer, "--orders", String(orders), "--threads", String(threads), "--rate", "0"];
  output(helper, ["record", ...probesWithoutBudget, ...wanted.flatMap((name) => ["--function", name]), "-o", folder, "--", ...program]);
  for (const name of ["write_audit", "reserve_stock"]) assert.deepEqual(report(folder, name).calls, { complete: counts[name], incomplete: 0, unwound: 0 }, name);
  assert.deepEqual(report(folder, "validate_order").calls, { complete: counts.validate_order - counts.rejected, incomplete: 0, unwound: counts.rejected });
});

test("attaching to a running process: the counts that it prints", { skip }, async (t) => {
  const [orders, threads] = [400, 4];
  const server = background(t, orderServer, ["--orders", String(orders), "--threads", String(threads), "--rate", "0", "--wait"]);
  await until("the order server runs", () => server.text.stdout.includes("threads"));
  const folder = path.join(temporaryFolder(t), "recording");
  const recorder = background(t, helper, ["record", ...probesWithoutBudget, "--pid", String(server.child.pid), "--function", "handle_order", "--duration", "120", "-o", folder]);
  await untilMeasuring(recorder.child.pid);
  server.child.stdin.end("\n");
  const served = await server.closed;
  const printed = parseCounts(served.stdout);
  assert.deepEqual(printed, expectedCounts(orders, threads), "the program did what arithmetic says");
  const { status, stderr } = await recorder.closed;
  assert.equal(status, 0, `the target's end ends the recording: ${stderr}`);
  assert.deepEqual(probesOf(recorder.child.pid), []);
  assert.deepEqual(report(folder, "handle_order").calls, { complete: printed.handle_order, incomplete: 0, unwound: 0 });
});

test("a target that is killed: what was recorded is kept", { skip }, async (t) => {
  const server = background(t, orderServer, ["--threads", "2"]);
  await until("the order server runs", () => server.text.stdout.includes("threads"));
  const folder = path.join(temporaryFolder(t), "recording");
  const recorder = background(t, helper, ["record", ...probesWithoutBudget, "--pid", String(server.child.pid), "--function", "price_order", "--duration", "120", "-o", folder]);
  await untilMeasuring(recorder.child.pid);
  await sleep(500);
  server.child.kill("SIGKILL");
  const { status, stderr } = await recorder.closed;
  assert.equal(status, 0, stderr);
  assert.deepEqual(probesOf(recorder.child.pid), []);
  assert.ok(report(folder, "price_order").calls.complete > 0);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  test(`a helper that gets ${signal} ends the recording and removes its probes; the target runs on`, { skip }, async (t) => {
    const server = background(t, orderServer, ["--threads", "2"]);
    await until("the order server runs", () => server.text.stdout.includes("threads"));
    const folder = path.join(temporaryFolder(t), "recording");
    const recorder = background(t, helper, ["record", ...probesWithoutBudget, "--pid", String(server.child.pid), "--function", "price_order", "--duration", "120", "-o", folder]);
    await untilMeasuring(recorder.child.pid);
    await sleep(500);
    recorder.child.kill(signal);
    const { status, signal: died, stderr } = await recorder.closed;
    assert.equal(died, null);
    assert.equal(status, 0, stderr);
    assert.deepEqual(probesOf(recorder.child.pid), []);
    assert.ok(report(folder, "price_order").calls.complete > 0);
    assert.ok(isAlive(server.child.pid));
  });
}

test("a helper that is killed: the next recording removes its probes, and perf has ended", { skip }, async (t) => {
  const server = background(t, orderServer, ["--threads", "2"]);
  await until("the order server runs", () => server.text.stdout.includes("threads"));
  const scratch = temporaryFolder(t);
  const args = (name, duration) => ["record", ...probesWithoutBudget, "--pid", String(server.child.pid), "--function", "price_order", "--duration", duration, "-o", path.join(scratch, name)];
  const killed = background(t, helper, args("killed", "120"));
  await untilMeasuring(killed.child.pid);
  assert.ok(probesOf(killed.child.pid).length > 0);
  const children = childrenOf(killed.child.pid);
  killed.child.kill("SIGKILL");
  await killed.closed;
  await until("perf has ended", () => children.every((pid) => !isAlive(pid)));
  const next = background(t, helper, args("next", "1"));
  const { status, stderr } = await next.closed;
  assert.equal(status, 0, stderr);
  assert.deepEqual(probesOf(killed.child.pid), []);
  assert.deepEqual(probesOf(next.child.pid), []);
  assert.ok(existsSync(path.join(scratch, "next/perf.data")));
  assert.ok(isAlive(server.child.pid), "the target runs on");
});

test("a forked child is measured with its parent, each under its own process", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, "forks.c");
  writeFileSync(file, `
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((noipa)) int work(int x) { return x + 1; }
    int main(void) {
      int x = 0;
      for (int i = 0; i < 30; ++i) x = work(x);
      pid_t child = fork();
      for (int i = 0; i < (child == 0 ? 70 : 50); ++i) x = work(x);
      if (child == 0) _exit(0);
      waitpid(child, NULL, 0);
      return 0;
    }`);
  const program = path.join(folder, "forks");
  output(process.env.CC ?? "gcc", ["-O2", "-g", "-o", program, file]);
  const recording = path.join(folder, "recording");
  output(helper, ["record", ...probesWithoutBudget, "--function", "work", "-o", recording, "--", program]);
  const { calls, threads } = report(recording, "work");
  assert.deepEqual(calls, { complete: 150, incomplete: 0, unwound: 0 });
  assert.deepEqual(threads.map((thread) => thread.calls).sort((one, other) => one - other), [70, 80]);
});

test("one thread of several is measured alone", { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, "threads.c");
  writeFileSync(file, `
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <stdio.h>
    #include <unistd.h>
    __attribute__((noipa)) int work(int x) { return x + 1; }
    static void* run(void* unused) { for (int x = 0;; x = work(x)) usleep(2000); return unused; }
    int main(void) { pthread_t thread; pthread_create(&thread, NULL, run, NULL); run(NULL); return 0; }`);
  const program = path.join(folder, "threads");
  output(process.env.CC ?? "gcc", ["-O2", "-g", "-pthread", "-o", program, file]);
  const running = background(t, program, []);
  const threads = () => readdirSync(`/proc/${running.child.pid}/task`).map(Number);
  await until("both threads run", () => threads().length === 2);
  const tid = threads().find((each) => each !== running.child.pid);
  const recording = path.join(folder, "recording");
  output(helper, ["record", ...probesWithoutBudget, "--tid", String(tid), "--function", "work", "--duration", "0.5", "-o", recording]);
  const answer = report(recording, "work");
  assert.ok(answer.calls.complete > 0);
  assert.equal(answer.calls.unwound, 0);
  assert.deepEqual(answer.threads.map((thread) => thread.tid), [tid]);
});
