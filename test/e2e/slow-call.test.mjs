// One of 10,000 orders waits for a lock that a clerk holds while taking stock. A snapshot of the trace, or of the last
// seconds of probe hits, is taken when that call ends, and it shows the wait.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, helper, json, jsonLines, noProbes, noteOf, orderServer, output, parseCounts, probesWithoutBudget, simulator, temporaryFolder, until } from "./support.mjs";

const orders = 10_000;
const watched = 60; // orders that are traced
const stock = 2_000; // ms that the lock is held, a little of it before the order waits
const limit = 1_500; // ms
const noSimulator = existsSync(simulator) ? false : `${simulator} is not built`;
const backends = [
  {
    name: "in a trace", skip: noProbes || noSimulator, options: ["--backend", "intel_pt", "--perf", simulator],
    caller: "reserve_stock", callee: /mutex_lock/,
  },
  { name: "with probes", skip: noProbes, options: probesWithoutBudget, caller: "handle_order", callee: /accept_order/ },
];

for (const { name, skip, options, caller, callee } of backends) {
  test(`one slow order of ten thousand is caught ${name}, with what it waited for`, { skip }, async (t) => {
    const folder = temporaryFolder(t);
    const recording = path.join(folder, "recording");
    const server = background(t, orderServer, [
      "--threads", "1", "--rate", "0", "--orders", String(orders), "--slow-every", String(orders), "--stock-ms", String(stock),
      "--wait-at", String(orders - watched),
    ]);
    await until("it waits", () => server.text.stdout.includes("waits before order"));
    const recorder = background(t, helper, [
      "record", ...options, "--pid", String(server.child.pid), "--function", "handle_order",
      "--snapshot", "--slower-than", `${limit}ms`, "--duration", "300", "-o", recording,
    ]);
    await until("it is recorded", () => recorder.child.exitCode !== null || existsSync(path.join(recording, "perf.data")));
    server.child.stdin.write("\n");
    const { status, stdout, stderr } = await recorder.closed;
    assert.equal(status, 0, stderr);
    const manifest = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
    const caught = noteOf(manifest, "slow_call_caught");
    assert.ok(stdout.includes(caught.text), stdout);
    const [measured, took, tid, before] = caught.arguments;
    assert.match(measured, /^shop::handle_order/);
    assert.ok(Number(took) > limit, took);
    assert.ok(Number(tid) > 0 && Number(before) > 0);

    const calls = jsonLines(output(helper, ["calls", "--json-lines", "--function", "handle_order", recording]));
    const slow = calls.filter(({ latency }) => latency > limit * 1e6);
    assert.equal(slow.length, 1);
    assert.equal(slow[0].state, "complete");
    assert.ok(slow[0].off_cpu > limit * 1e6 * 0.9, "it was off-CPU during the wait");
    assert.ok(calls.filter(({ start }) => start < slow[0].start).length >= 40, "the calls before it are recorded too");
    const { children } = json(["report", "--json", "--function", caller, recording]);
    const [waited] = children.filter(({ name: called }) => callee.test(called));
    assert.ok(waited.latency.max > limit * 1e6 * 0.9, "the callee contains the wait");
    assert.ok(waited.off_cpu.total > limit * 1e6 * 0.9);

    const ended = await server.closed;
    const counts = parseCounts(ended.stdout);
    assert.equal(counts.handle_order, orders, "the server ran on");
  });
}
