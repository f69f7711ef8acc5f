// One of 10,000 orders waits for a lock that a clerk holds while taking stock. A snapshot of the trace is
// taken when that call ends, and the decoded call shows the wait.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, helper, json, jsonLines, noProbes, noteOf, orderServer, output, parseCounts, simulator, temporaryFolder, until } from "./support.mjs";

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
  const manifest = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
  const caught = noteOf(manifest, "slow_call_caught");
  assert.ok(stdout.includes(caught.text), stdout);
  const [name, took, tid, before] = caught.arguments;
  assert.match(name, /^shop::handle_order/);
  assert.match(took, /^2\d{3}\.\d{3}$/);
  assert.ok(Number(tid) > 0 && Number(before) > 0);

  const calls = jsonLines(output(helper, ["calls", "--json-lines", "--function", "handle_order", recording]));
  const slow = calls.filter(({ latency }) => latency > stock * 1e6);
  assert.equal(slow.length, 1);
  assert.equal(slow[0].state, "complete");
  assert.ok(slow[0].off_cpu >= stock * 1e6 * 0.99, "it was off-CPU during the wait");
  assert.ok(calls.filter(({ start }) => start < slow[0].start).length >= 40, "the calls before it are recorded too");
  const { children } = json(["report", "--json", "--function", "reserve_stock", recording]);
  const [lock] = children.filter(({ name }) => /mutex_lock/.test(name));
  assert.ok(lock.latency.max >= stock * 1e6 * 0.99, "the lock contains the wait");
  assert.ok(lock.off_cpu.total >= stock * 1e6 * 0.99);

  const ended = await server.closed;
  const counts = parseCounts(ended.stdout);
  assert.equal(counts.handle_order, orders, "the server ran on");
});
