// "Catch the slow one": of 10,000 orders one waits for a lock that a clerk holds while taking stock. A
// snapshot of the trace is taken when that call is over, and the decoded call shows the wait.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, helper, json, jsonLines, noProbes, orderServer, output, parseCounts, simulator, temporaryFolder, until } from "./support.mjs";

const orders = 10_000;
const watched = 60; // orders that are traced
const stock = 2_000; // ms that the lock is held
const skip = noProbes || (existsSync(simulator) ? false : `${simulator} is not built`);

test("one slow order of ten thousand is caught, with the lock that it waited for", { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const recording = path.join(folder, "recording");
  const server = background(t, orderServer, [
    "--threads", "1", "--rate", "0", "--orders", String(orders), "--slow-every", String(orders), "--stock-ms", String(stock),
    "--wait-at", String(orders - watched),
  ]);
  await until("it waits", () => server.text.stdout.includes("waits before order"));
  const recorder = background(t, helper, [
    "record", "--backend", "intel_pt", "--perf", simulator, "--pid", String(server.child.pid), "--function", "handle_order",
    "--snapshot", "--slower-than", "1500ms", "--duration", "300", "-o", recording,
  ]);
  await until("it is traced", () => recorder.child.exitCode !== null || existsSync(path.join(recording, "perf.data")));
  server.child.stdin.write("\n");
  const { status, stdout, stderr } = await recorder.closed;
  assert.equal(status, 0, stderr);
  assert.match(stdout, /caught: a call of shop::handle_order.* took 2\d{3}\.\d{3} ms on thread \d+, after \d+ calls/);

  const calls = jsonLines(output(helper, ["calls", "--json-lines", "--function", "handle_order", recording]));
  const slow = calls.filter(({ latency }) => latency > stock * 1e6);
  assert.equal(slow.length, 1);
  assert.equal(slow[0].state, "complete");
  assert.ok(slow[0].off_cpu >= stock * 1e6 * 0.99, "it did not run meanwhile");
  assert.ok(calls.filter(({ start }) => start < slow[0].start).length >= 40, "what led up to it is there too");
  const { children } = json(["report", "--json", "--function", "reserve_stock", recording]);
  const [lock] = children.filter(({ name }) => /mutex_lock/.test(name));
  assert.ok(lock.latency.max >= stock * 1e6 * 0.99, "the wait lies in the lock");
  assert.ok(lock.off_cpu.total >= stock * 1e6 * 0.99);

  const ended = await server.closed;
  const counts = parseCounts(ended.stdout);
  assert.equal(counts.handle_order, orders, "the server ran on");
});
