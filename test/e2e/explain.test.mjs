// A program whose slow calls have two causes that are known by construction: one call in 20 looks up nine times instead of
// once, and one in 25 calls a function that other calls never call. The expected figures come from arithmetic and from the
// list of calls.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { helper, json, jsonLines, output, ptlens, simulator, temporaryFolder } from "./support.mjs";

const calls = 200;
const skip = existsSync(simulator) ? false : `${simulator} is not built`;

const source = `
static volatile long sum;
__attribute__((noinline)) void lookup(void) { for (int i = 0; i < 40; ++i) sum += i; }
__attribute__((noinline)) void audit(void) { for (int i = 0; i < 2000; ++i) sum += i; }
__attribute__((noinline)) void work(int n) {
  int times = n % 20 == 7 ? 9 : 1;
  for (int i = 0; i < times; ++i) lookup();
  if (n % 25 == 3) audit();
}
int main(void) {
  for (int n = 0; n < ${calls}; ++n) work(n);
  return 0;
}
`;

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

test("two causes of slow calls are found, each with its calls", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const program = path.join(folder, "causes");
  const recording = path.join(folder, "perf.data");
  writeFileSync(`${program}.c`, source);
  output("gcc", ["-g", "-O0", "-o", program, `${program}.c`]);
  output(simulator, ["record", "-e", "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u", "--start-at", "main", "-o", recording, "--", program]);

  const numbers = Array.from({ length: calls }, (_, n) => n);
  const lookers = numbers.filter((n) => n % 20 === 7);
  const auditors = numbers.filter((n) => n % 25 === 3);
  const both = lookers.filter((n) => auditors.includes(n));
  const slowCalls = lookers.length + auditors.length - both.length;
  const list = jsonLines(output(helper, ["calls", "--json-lines", "--function", "work", recording]));
  assert.equal(list.length, calls);
  const latencies = list.map(({ latency }) => latency).sort((one, other) => other - one);
  const bound = latencies[slowCalls - 1];
  assert.ok(bound > 2 * latencies[slowCalls], "the slow calls stand out");

  const command = ["explain", recording, "--function", "work", "--slow", `${bound},`];
  const { explain } = json([...command, "--json"]);
  const slow = list.filter(({ latency }) => latency >= bound);
  assert.equal(explain.slow.calls, slowCalls);
  assert.equal(explain.complete, calls);
  assert.ok(Math.abs(explain.slow.mean - mean(slow.map(({ latency }) => latency))) < 1e-6 * explain.slow.mean);
  assert.ok(Math.abs(explain.components.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9);
  const own = explain.components.find(({ kind }) => kind === "self");
  assert.ok(Math.abs(own.slow_mean - mean(slow.map(({ self }) => self))) < 1e-6 * own.slow_mean, "the mean of self of the calls");

  const component = (name) => explain.components.find((each) => each.kind === "child" && each.function === name);
  const lookup = component("lookup");
  assert.equal(lookup.slow_presence, slowCalls);
  const lookups = (9 * lookers.length + (slowCalls - lookers.length)) / slowCalls;
  assert.ok(Math.abs(lookup.slow_count - lookups) < 1e-9);
  assert.ok(Math.abs(lookup.typical_count - 1) < 1e-9);
  assert.ok(lookup.count_part > 0.9 * lookup.delta, "more calls, not longer ones");
  const audit = component("audit");
  assert.equal(audit.slow_presence, auditors.length);
  assert.equal(audit.typical_presence, 0);

  assert.equal(explain.kinds.length, 2);
  const kind = (text) => explain.kinds.find(({ predicate }) => predicate === text);
  const looks = kind("called lookup 9 times or more");
  assert.equal(looks.calls, lookers.length - both.length);
  assert.ok(looks.recall === 1);
  const audits = kind("called audit");
  assert.equal(audits.calls, auditors.length);
  assert.deepEqual([audits.precision, audits.recall], [1, 1]);
  for (const text of ["`audit`", "which typical calls do not"]) assert.ok(explain.sentence.includes(text), explain.sentence);
  assert.ok(output(helper, command).includes(explain.sentence));
});

test("a choice of calls that cannot be understood is refused with examples", { skip }, () => {
  const { status, stderr } = ptlens(["explain", "nowhere", "--function", "work", "--slow", "slowest"]);
  assert.equal(status, 1);
  assert.match(stderr, /not a range of latencies: "slowest".*p99/);
});
