// Recordings of uftrace, made by ptlens and by uftrace itself. The judges are arithmetic, the sample's own counts, and
// `uftrace dump` on the same folder.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, expectedCounts, helper, json, noteOf, orderServer, output, ptlens, root, sampleFunction, temporaryFolder, until } from "./support.mjs";

const skip = spawnSync("uftrace", ["--version"]).status === 0 ? false : "uftrace is not installed";

function build(folder, name, source, ...options) {
  const program = path.join(folder, name);
  const file = source.includes("\n") ? `${program}.c` : source;
  if (file !== source) writeFileSync(file, source);
  output(file.endsWith(".c") ? "gcc" : "g++", ["-g", "-O2", ...options, "-o", program, file, "-pthread"]);
  return program;
}

const known = `#include <pthread.h>
#include <stdlib.h>
#define OWN __attribute__((noipa))
OWN int tiny(int n) { return n + 1; }
OWN int leaf(int n) { return ((n * 77) ^ (n >> 3)) + 12345 * (n & 0xff0); }
OWN int descend(int n) { return n == 0 ? leaf(n) : descend(n - 1) + leaf(n); }
OWN int middle(int n) { return leaf(n) + leaf(tiny(n)); }
OWN void* work(void* count) {
  long sum = 0;
  for (long i = 0; i < (long)count; ++i) sum += middle((int)i) + descend(4);
  return (void*)sum;
}
int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, (void*)(100 * (i + 1)));
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return 0;
}
`;

const counts = (functions, names) => Object.fromEntries(names.map((name) => [name, functions.find((row) => row.name === name)?.complete ?? 0]));

// The calls of each pair of caller and callee, and the calls and total ns of each function, by a stack over the lines of
// `uftrace dump`, whose reader is uftrace's own.
function dumped(folder) {
  const calls = new Map();
  const pairs = new Map();
  let stack = [];
  for (const line of output("uftrace", ["dump", "--no-pager", "-d", folder]).split("\n")) {
    if (line.startsWith("reading ")) stack = [];
    const found = /^(\d+)\.(\d{9})\s+\d+: \[(entry|exit )\] (.*)\([0-9a-f]+\) depth: (\d+)$/.exec(line);
    if (!found) continue;
    const [, seconds, ns, kind, name, depth] = found;
    const time = BigInt(seconds) * 1_000_000_000n + BigInt(ns);
    stack.length = Math.min(stack.length, Number(depth) + (kind === "entry" ? 0 : 1));
    if (kind === "entry") {
      const pair = `${stack.at(-1)?.name ?? ""} > ${name}`;
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
      stack.push({ name, time });
    } else {
      const { time: begun } = stack.pop();
      const sum = calls.get(name) ?? { calls: 0, total: 0 };
      calls.set(name, { calls: sum.calls + 1, total: sum.total + Number(time - begun) });
    }
  }
  return { calls, pairs };
}

test("counts, totals and nesting are those of arithmetic and of uftrace", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const program = build(folder, "known", known);
  const recording = path.join(folder, "recording");
  output(helper, ["record", "--backend", "uftrace", "-o", recording, "--", program]);
  const { functions, recording: about } = json(["functions", "--json", recording]);
  assert.equal(about.backend, "uftrace");
  assert.ok(about.slowdown >= 1);
  const rounds = 100 + 200 + 300;
  assert.deepEqual(counts(functions, ["work", "middle", "descend", "leaf"]), { work: 3, middle: rounds, descend: 5 * rounds, leaf: 7 * rounds });

  assert.match(noteOf(about, "functions_without_hook").text, /\btiny\b/);

  const judge = dumped(path.join(recording, "uftrace.data"));
  for (const name of ["work", "middle", "leaf"]) {
    const own = functions.find((row) => row.name === name);
    assert.equal(own.complete, judge.calls.get(name).calls, name);
    assert.equal(own.inclusive, judge.calls.get(name).total, `${name}: total ns`);
  }
  const { callers } = json(["report", "--json", "--function", "leaf", recording]);
  for (const [caller, expected] of [["middle", 2 * rounds], ["descend", 5 * rounds]]) {
    const calls = callers.filter(({ name }) => name === caller).reduce((sum, row) => sum + row.calls, 0);
    assert.equal(calls, expected);
    assert.equal(calls, judge.pairs.get(`${caller} > leaf`));
  }
});

test("the order server throws, recurses, tail-calls and sleeps as it counts itself", { skip }, async (t) => {
  const [orders, threads] = [400, 3];
  const recording = path.join(temporaryFolder(t), "recording");
  output(helper, ["record", "--backend", "uftrace", "-o", recording, "--", orderServer, "--orders", String(orders), "--threads", String(threads), "--rate", "0"]);
  const { functions, recording: about } = json(["functions", "--json", recording]);
  const expected = expectedCounts(orders, threads);
  const unhooked = noteOf(about, "functions_without_hook")?.text ?? "";
  for (const name of ["handle_order", "accept_order", "validate_order", "price_order", "category_discount", "reserve_stock", "write_audit"]) {
    const rows = sampleFunction(functions, name);
    if (rows.length === 0) assert.ok(unhooked.includes(name), `${name} is missing silently`);
    else assert.equal(rows[0].complete, expected[name], name);
  }
  const [audit] = sampleFunction(functions, "write_audit");
  if (about.off_cpu_known && audit) assert.ok(audit.off_cpu >= expected.write_audit * 4_900_000);
  assert.match(output(helper, ["flame", recording]), /accept_order.*validate_order/);
});

// Functions of several µs: hooks of some 100 ns a call slow them down by a few percent.
test("the slowdown is not that of the program's own work", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const program = build(folder, "busy", `#define OWN __attribute__((noipa))
OWN unsigned long spin(unsigned long x) { for (int i = 0; i < 4000; ++i) x = x * 6364136223846793005ul + 1; return x; }
OWN unsigned long outer(unsigned long x) { return spin(x) + spin(x + 1) * 3; }
int main(void) { unsigned long sum = 0; for (int i = 0; i < 20000; ++i) sum += outer(i); return sum == 1; }
`);
  const recording = path.join(folder, "recording");
  output(helper, ["record", "--backend", "uftrace", "-o", recording, "--", program]);
  const { recording: about } = json(["functions", "--json", recording]);
  if (about.off_cpu_known) assert.ok(about.slowdown > 1 && about.slowdown < 1.5, JSON.stringify(about));
});

test("a program runs to its own end, and filters leave out what they say", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const program = build(folder, "known", known);
  const of = (name, ...options) => {
    const recording = path.join(folder, name);
    output(helper, ["record", "--backend", "uftrace", ...options, "-o", recording, "--", program]);
    return json(["functions", "--json", recording]);
  };
  const only = of("only", "--function", "middle", "--filter");
  assert.deepEqual(counts(only.functions, ["middle", "leaf", "descend", "work"]), { middle: 600, leaf: 1200, descend: 0, work: 0 });
  assert.ok(noteOf(only.recording, "filtered_function"));
  const shallow = of("shallow", "--depth", "2");
  assert.deepEqual(counts(shallow.functions, ["work", "middle", "leaf"]), { work: 3, middle: 600, leaf: 0 });
  assert.ok(noteOf(shallow.recording, "filtered_depth"));
  const audits = path.join(folder, "audits");
  output(helper, ["record", "--backend", "uftrace", "--min-latency", "4ms", "-o", audits, "--", orderServer, "--orders", "100", "--threads", "2", "--rate", "0"]);
  const slow = json(["functions", "--json", audits]);
  assert.ok(noteOf(slow.recording, "filtered_short_calls"));
  assert.equal(sampleFunction(slow.functions, "write_audit")[0].complete, 2);
  assert.equal(sampleFunction(slow.functions, "add_tax").length, 0);
  const { status, stderr } = ptlens(["record", "--backend", "uftrace", "--min-latency", "900s", "-o", path.join(folder, "none"), "--", program]);
  assert.equal(status, 1);
  assert.match(stderr, /no call passed the filters/);
});

test("a duration and a limit of data end the recording, and nothing stays behind", { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const server = (name, ...options) => {
    const recording = path.join(folder, name);
    const { status, stderr } = ptlens(["record", "--backend", "uftrace", ...options, "-o", recording, "--", orderServer, "--threads", "2", "--rate", "0"]);
    assert.equal(status, 0, stderr);
    return json(["functions", "--json", recording]);
  };
  const timed = server("timed", "--duration", "0.5");
  assert.ok(sampleFunction(timed.functions, "accept_order")[0].complete > 0);
  const full = server("full", "--max-data", "1MB");
  assert.ok(noteOf(full.recording, "data_limit"));

  const buffers = () => readdirSync("/dev/shm").filter((name) => name.startsWith("uftrace-"));
  const before = buffers();
  const kept = path.join(folder, "stopped");
  const recorder = background(t, helper, ["record", "--backend", "uftrace", "-o", kept, "--", orderServer, "--threads", "2"]);
  await until("uftrace records", () => existsSync(path.join(kept, "uftrace.data/task.txt")));
  recorder.child.kill("SIGINT");
  const { status, stderr } = await recorder.closed;
  assert.equal(status, 0, stderr);
  assert.deepEqual(buffers().filter((name) => !before.includes(name)), []);
});

test("a folder that uftrace made itself opens, with arguments and return values in it", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const program = build(folder, "known", known);
  const data = path.join(folder, "uftrace.data");
  output("uftrace", ["record", "-P", ".", "-A", "leaf@arg1", "-R", "leaf@retval", "-A", "middle@arg1/i32,arg2/u64,arg3/x8", "-d", data, program]);
  const { functions } = json(["functions", "--json", data]);
  assert.deepEqual(counts(functions, ["middle", "descend", "leaf"]), { middle: 600, descend: 3000, leaf: 4200 });
  // Hooks that the compiler set: -pg records main too.
  const compiled = build(folder, "compiled", known, "-pg");
  const recording = path.join(folder, "compiled-recording");
  output(helper, ["record", "--backend", "uftrace", "-o", recording, "--", compiled]);
  assert.deepEqual(counts(json(["functions", "--json", recording]).functions, ["main", "middle", "leaf"]), { main: 1, middle: 600, leaf: 4200 });

  const bundle = path.join(folder, "all.ptlens");
  output(helper, ["bundle", recording, "-o", bundle]);
  assert.equal(counts(json(["functions", "--json", bundle]).functions, ["leaf"]).leaf, 4200);

  const [thread] = readdirSync(data).filter((name) => /^\d+\.dat$/.test(name));
  truncateSync(path.join(data, thread), 1000);
  const { status, stderr } = ptlens(["functions", "--no-cache", data]);
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`${thread}: offset 0x.*; .*record again`));
});

test("longjmp, fork and exec leave counts as they are", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const program = build(folder, "jumps", `#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>
#define OWN __attribute__((noipa))
static jmp_buf back;
OWN void jump(int n) { longjmp(back, n); }
OWN void pass(int n) { jump(n + 1); __asm__ volatile("" ::: "memory"); }
OWN int land(int n) { if (setjmp(back) == 0) pass(n); return n; }
OWN int child_work(int n) { return ((n * 77) ^ (n >> 3)) + 12345 * (n & 0xff0); }
OWN int start(int n) {
  const int status_of = n;
  int pid = fork();
  if (pid == 0) { for (int i = 0; i < 7; ++i) n = child_work(n); if (status_of > 100) execl("/bin/true", "true", (char*)0); _exit(0); }
  int status = 0;
  waitpid(pid, &status, 0);
  return n;
}
int main(void) {
  for (int i = 0; i < 50; ++i) land(i);
  return start(1) + start(1000);
}
`);
  const recording = path.join(folder, "recording");
  output(helper, ["record", "--backend", "uftrace", "-o", recording, "--", program]);
  const { functions } = json(["functions", "--json", recording]);
  const row = (name) => functions.find((each) => each.name === name);
  assert.equal(row("land").complete, 50);
  assert.equal(row("pass").complete, 0);
  assert.equal(row("pass").unwound, 50);
  assert.equal(row("child_work").complete, 14);
  assert.equal(row("start").complete, 2);
});

test("what uftrace cannot measure is refused with the reason", { skip }, (t) => {
  const folder = temporaryFolder(t);
  const refused = (pattern, ...args) => {
    const recording = path.join(folder, "refused");
    const { status, stderr } = ptlens(["record", "--backend", "uftrace", "-o", recording, ...args]);
    assert.equal(status, 1, stderr);
    assert.match(stderr, pattern);
    assert.ok(!existsSync(recording));
  };
  refused(/only a program that it starts/, "--pid", String(process.pid));
  refused(/linked statically/, "--", build(folder, "static", known, "-static"));
  refused(/no symbol table/, "--", build(folder, "stripped", known, "-s"));
  refused(/switches stacks/, "--", build(folder, "fibers", path.join(root, "test/samples/stacks/contexts.c")));
  refused(/not an executable program/, "--", path.join(folder, "absent"));
});
