// Every part of a selection, on a simulated recording of several threads: the helper's answers against a filter over the
// list of all calls, which knows of each call only its function, its time and its caller. The calls above and below a call
// are found from their times alone.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { background, helper, json, jsonLines, output, ptlens, rpc, run, simulator, temporaryFolder } from "./support.mjs";

const compiler = process.env.CC ?? "gcc";
const skip = !existsSync(simulator) ? `${simulator} is not built` : run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run`;

const source = `
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
static jmp_buf back[3];
static volatile long sum[3];
NOINLINE void lookup(int t) { for (int i = 0; i < 20; ++i) sum[t] += i; }
NOINLINE void audit(int t) { for (int i = 0; i < 300; ++i) sum[t] += i; lookup(t); }
NOINLINE void refuse(int t) { longjmp(back[t], 1); }
NOINLINE void work(int t, int n) {
  int times = n % 5;
  for (int i = 0; i < times; ++i) lookup(t);
  if (n % 7 == 3) audit(t);
  if (n % 11 == 5) refuse(t);
}
NOINLINE void accept_order(int t, int n) { work(t, n); sum[t] += 1; }
NOINLINE void retry(int t, int n) {
  work(t, n);
  work(t, n + 1); sum[t] += 1;
}
NOINLINE void *serve(void *number) {
  int t = (int)(long)number;
  for (int n = 0; n < 40 + 10 * t; ++n) {
    if (setjmp(back[t])) continue;
    if (n % 3 == 0) retry(t, n); else accept_order(t, n);
  }
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (long t = 0; t < 3; ++t) pthread_create(&threads[t], 0, serve, (void *)t);
  for (int t = 0; t < 3; ++t) pthread_join(threads[t], 0);
  return 0;
}
`;
const retryLine = source.split("\n").findIndex((line) => line.includes("work(t, n + 1)")) + 1;

const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u";
const near = (one, other) => Math.abs(one - other) <= 1e-6 * Math.max(1, Math.abs(other));
const total = (rows, of) => rows.reduce((sum, row) => sum + of(row), 0);
const mean = (rows, of) => total(rows, of) / rows.length;

// The tree of the calls of each thread. A call is inside the last call of its caller that began before it and has not ended:
// times alone do not show where a call of no length belongs, or which of two calls with equal times is the outer one.
function withRelatives(rows) {
  const times = ({ tid, start, latency }) => `${tid} ${start} ${latency}`;
  const equals = new Map(rows.map((call) => [times(call), []]));
  for (const call of rows) equals.get(times(call)).push(call);
  const depth = (call) => {
    const others = equals.get(times(call)).filter((other) => other !== call);
    let found = 0;
    for (let caller = call; caller !== undefined && found <= others.length; found += 1) caller = others.find((other) => other.function === caller.caller);
    return found;
  };
  const order = [...rows.keys()].sort((a, b) =>
    rows[a].tid - rows[b].tid || rows[a].start - rows[b].start || rows[b].latency - rows[a].latency || depth(rows[a]) - depth(rows[b]));
  const open = [];
  for (const index of order) {
    const call = Object.assign(rows[index], { children: [], parent: undefined });
    const end = call.start + call.latency;
    const isAround = (outer) => outer.tid === call.tid && outer.start + outer.latency >= end;
    const caller = open.findLastIndex((outer) => isAround(outer) && outer.function === call.caller);
    open.length = (caller === -1 ? open.findLastIndex(isAround) : caller) + 1;
    call.parent = open.at(-1);
    call.parent?.children.push(call);
    open.push(call);
  }
  return rows;
}

function* above(call) {
  for (let outer = call.parent; outer !== undefined; outer = outer.parent) yield outer;
}
const isInside = (call, name, low = 0, high = Infinity) => [...above(call)].some((outer) => outer.function === name && outer.latency >= low && outer.latency < high);
const called = (call, name) => call.children.filter((child) => child.function === name).length;

describe("selections", { skip }, () => {
  let folder, recording, all, work, start, p50, late;

  test("a recording of three threads, preempted and unwound", (t) => {
    folder = temporaryFolder({ after: (remove) => process.on("exit", remove) });
    recording = path.join(folder, "perf.data");
    const program = path.join(folder, "orders");
    writeFileSync(path.join(folder, "orders.c"), source);
    output(compiler, ["-g", "-O1", "-fno-optimize-sibling-calls", "-pthread", "-o", program, path.join(folder, "orders.c")]);
    output(simulator, ["record", "-e", event, "--start-at", "main", "--slice", "3000", "-o", recording, "--", program]);
    all = withRelatives(jsonLines(output(helper, ["calls", "--json-lines", recording])));
    assert.ok(all.every((call) => typeof call.function === "string" && call.binary !== undefined && /^0x/.test(call.address)));
    assert.ok(all.every((call, index) => index === 0 || all[index - 1].start <= call.start), "ordered by start");
    work = all.filter((call) => call.function === "work");
    const states = (state) => work.filter((call) => call.state === state).length;
    // By arithmetic: n is 5 modulo 11 in the first or the second call of work() that order n makes.
    let orders = 0;
    let unwound = 0;
    for (let thread = 0; thread < 3; ++thread) {
      for (let n = 0; n < 40 + 10 * thread; ++n) {
        orders += 1;
        if (n % 11 === 5) unwound += 1;
        else if (n % 3 === 0) {
          orders += 1;
          unwound += (n + 1) % 11 === 5 ? 1 : 0;
        }
      }
    }
    assert.equal(work.length, orders);
    assert.equal(states("unwound"), unwound);
    assert.ok(work.some((call) => call.preempted > 0), "the slices preempt some calls");
    const { functions } = json(["functions", "--json", recording]);
    assert.equal(all.length, total(functions, (each) => each.complete + each.incomplete + each.unwound));
    const sorted = work.map(({ latency }) => latency).sort((a, b) => a - b);
    p50 = sorted[Math.floor(sorted.length / 2)];
    start = Math.min(...all.map((call) => call.start));
    late = Math.round((Math.max(...all.map((call) => call.start)) - start) / 2);
    t.diagnostic(`${all.length} calls, ${work.length} of work()`);
  });

  // The start of the trace is not among the calls. It is found as the bound that leaves out exactly the first call.
  const traceStart = () => {
    let low = 0;
    let high = late;
    const first = all.find((call) => call.start === start);
    const count = (ns) => jsonLines(output(helper, ["calls", "--json-lines", "--function", first.function, "--time", `${ns}ns,`, recording])).some((call) => call.start === start);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (count(middle)) low = middle;
      else high = middle - 1;
    }
    return start - low;
  };

  const parts = () => {
    const begin = traceStart();
    const tid = work[0].tid;
    const site = work.find((call) => call.caller === "retry").call_site;
    const inTime = (low, high) => (call) => call.start - begin >= low && call.start - begin <= high;
    return [
      [[], () => true],
      [["--latency", `${p50},`], (call) => call.latency >= p50],
      [["--latency", `,${p50}`], (call) => call.latency < p50],
      [["--latency", `${p50},${2 * p50}`], (call) => call.latency >= p50 && call.latency < 2 * p50],
      [["--time", `${late}ns,`], inTime(late, Infinity)],
      [["--time", `0,${late / 1e9}`], inTime(0, late)],
      [["--tid", `${tid}`], (call) => call.tid === tid],
      [["--tid", `${tid}`, "--tid", `${work.find((call) => call.tid !== tid).tid}`], (call) => call.tid === tid || call.tid === work.find((other) => other.tid !== tid).tid],
      [["--not-tid", `${tid}`], (call) => call.tid !== tid],
      [["--caller", "retry"], (call) => call.caller === "retry"],
      [["--caller", `retry@orders.c:${retryLine}`], (call) => call.caller === "retry" && call.call_site !== site],
      [["--caller", "retry", "--caller", "accept_order"], () => true],
      [["--not-caller", "retry"], (call) => call.caller !== "retry"],
      [["--caller", "retry", "--not-caller", `retry@orders.c:${retryLine}`], (call) => call.call_site === site],
      [["--ancestor", "retry"], (call) => isInside(call, "retry")],
      [["--ancestor", `retry,${3 * p50}`, "--ancestor", "serve"], (call) => isInside(call, "retry", 3 * p50) && isInside(call, "serve")],
      [["--calls", "lookup"], (call) => called(call, "lookup") >= 1],
      [["--calls", "lookup,2,3"], (call) => called(call, "lookup") >= 2 && called(call, "lookup") <= 3],
      [["--calls", "lookup,0,1", "--calls", "audit"], (call) => called(call, "lookup") <= 1 && called(call, "audit") >= 1],
      [["--calls", "audit,0,0"], (call) => called(call, "audit") === 0],
      [["--waited", "preempted"], (call) => call.preempted > 0],
      [["--waited", "preempted,1us"], (call) => call.preempted >= 1000],
      [["--latency", `${p50},`, "--not-tid", `${tid}`, "--calls", "lookup,1", "--ancestor", "accept_order"],
        (call) => call.latency >= p50 && call.tid !== tid && called(call, "lookup") >= 1 && isInside(call, "accept_order")],
    ];
  };

  const key = (call) => `${call.tid} ${call.start} ${call.latency} ${call.state}`;
  const sameCalls = (found, expected, text) => assert.deepEqual(found.map(key).sort(), expected.map(key).sort(), text);

  test("each part selects what the list of calls says, in every command", (t) => {
    let selected = 0;
    for (const [options, accepts] of parts()) {
      for (const complement of [false, true]) {
        const asked = complement ? [...options, "--complement"] : options;
        const text = asked.join(" ");
        const expected = work.filter((call) => accepts(call) !== complement);
        sameCalls(jsonLines(output(helper, ["calls", "--json-lines", "--function", "work", ...asked, recording])), expected, text);
        for (const states of [undefined, ["complete", "unwound"], ["unwound"]]) {
          const command = states === undefined ? asked : [...asked, "--state", states.join(",")];
          const figures = expected.filter((call) => (states ?? ["complete"]).includes(call.state));
          selected += figures.length > 0 && figures.length < work.length ? 1 : 0;
          const report = json(["report", "--json", "--function", "work", ...command, recording]);
          assert.equal(report.latency.total, total(figures, (call) => call.latency), command.join(" "));
          assert.equal(report.off_cpu.total, total(figures, (call) => call.off_cpu), command.join(" "));
          assert.equal(report.calls.unwound, expected.filter((call) => call.state === "unwound").length);
          const flame = json(["flame", "--format", "json", "--function", "work", ...command, recording]);
          assert.equal(flame.nodes.inclusive[0], report.latency.total, `flame ${command.join(" ")}`);
        }
      }
    }
    assert.ok(selected > 30);
    t.diagnostic(`${selected} selections of some calls`);
  });

  test("without a function, calls of all functions are selected", () => {
    sameCalls(jsonLines(output(helper, ["calls", "--json-lines", "--latency", `${p50},`, "--ancestor", "retry", "--state", "complete", recording])),
      all.filter((call) => call.state === "complete" && call.latency >= p50 && isInside(call, "retry")));
    const csv = output(helper, ["calls", "--csv", "--calls", "lookup", recording]).trim().split("\r\n");
    assert.equal(csv.length - 1, all.filter((call) => called(call, "lookup") >= 1).length);
    assert.match(csv[0], /,function,binary,address$/);
  });

  // latency = self on-CPU + blocked + preempted + the latencies of the direct calls by call site.
  const partsOf = (call) => {
    const own = (of) => of(call) - total(call.children, of);
    const values = new Map([["blocked", own((each) => each.blocked)], ["preempted", own((each) => each.preempted)]]);
    values.set("self", own((each) => each.latency) - values.get("blocked") - values.get("preempted"));
    for (const child of call.children) {
      const name = `${child.function} ${child.call_site}`;
      values.set(name, (values.get(name) ?? 0) + child.latency);
    }
    return values;
  };

  test("the parts of every call sum to its latency, and an explanation is of these parts", () => {
    // The C library's functions have several names each, so that times and names do not show which call made which.
    const own = all.filter((call) => ["work", "audit", "lookup", "retry", "accept_order"].includes(call.function));
    assert.ok(own.length > 500);
    for (const call of own) {
      assert.equal(call.self, call.latency - total(call.children, (child) => child.latency), "self of the list");
      assert.equal(total([...partsOf(call).values()], (value) => value), call.latency);
    }
    const complete = work.filter((call) => call.state === "complete");
    for (const [options, accepts] of parts()) {
      const slow = complete.filter(accepts);
      if (options.length === 0 || slow.length === 0 || slow.length === complete.length) continue;
      const others = complete.filter((call) => !accepts(call));
      const { explain } = json(["explain", "--json", "--function", "work", ...options, "--typical", "others", recording]);
      assert.equal(explain.slow.calls, slow.length);
      assert.equal(explain.typical.calls, others.length);
      assert.ok(near(explain.gap, mean(slow, (call) => call.latency) - mean(others, (call) => call.latency)));
      assert.ok(near(total(explain.components, ({ share }) => share), 1), `shares of ${options.join(" ")}`);
      assert.ok(near(total(explain.variance, ({ share }) => share), 1));
      for (const part of explain.components) {
        const name = part.kind === "child" ? `${part.function} ${part.call_site}` : part.kind;
        for (const [calls, found] of [[slow, part.slow_mean], [others, part.typical_mean]]) {
          const expected = mean(calls, (call) => partsOf(call).get(name) ?? 0);
          assert.ok(Math.abs(found - expected) < 1e-6 * Math.max(1, explain.slow.mean), `${name} of ${options.join(" ")}: ${found}, not ${expected}`);
        }
      }
    }
  });

  test("a value that cannot be understood is bad usage, with the option and the remedy", () => {
    for (const [option, value, remedy] of [
      ["--latency", "5ms", /--latency: .*A,B/], ["--latency", "5,5", /its end does not belong/], ["--time", "soon,", /--time: .*seconds/],
      ["--tid", "x", /--tid: .*whole number/], ["--caller", "@a.c:1", /--caller: .*FUNCTION@FILE:LINE/], ["--calls", "f,2,1", /--calls: .*MIN/],
      ["--waited", "bored", /--waited: .*blocked, preempted/], ["--state", "done", /--state: .*unwound/], ["--ancestor", ",1", /--ancestor: .*FUNCTION/],
    ]) {
      const { status, stderr } = ptlens(["report", "--function", "work", option, value, recording]);
      assert.equal(status, 2, `${option} ${value}`);
      assert.match(stderr, remedy);
    }
    for (const [option, value, remedy] of [["--caller", "rety", /caller: no function "rety".*retry/], ["--tid", "999999999", /no thread 999999999.*threads: /]]) {
      const { status, stderr } = ptlens(["report", "--function", "work", option, value, recording]);
      assert.equal(status, 1);
      assert.match(stderr, remedy);
    }
  });

  test("JSON-RPC selects the same, and its commands do as well", async (t) => {
    const server = background(t, helper, ["serve"]);
    const ask = rpc(server);
    await ask("initialize", { processId: null, capabilities: {} });
    const { recording: { id } } = await ask("ptlens/open", { path: recording });
    const fn = { name: "work" };
    const tid = work[0].tid;
    const selections = [
      [{}, () => true],
      [{ latency: [p50, null] }, (call) => call.latency >= p50],
      [{ callers: [{ function: "retry", file: "orders.c", line: retryLine, not: true }], not_tids: [tid] },
        (call) => call.tid !== tid && !(call.caller === "retry" && call.call_site !== work.find((each) => each.caller === "retry").call_site)],
      [{ ancestors: [{ function: "retry", low: 3 * p50 }], calls: [{ function: "lookup", least: 0, most: 3 }], complement: true },
        (call) => !(isInside(call, "retry", 3 * p50) && called(call, "lookup") <= 3)],
      [{ waited: [{ reason: "preempted" }], states: ["complete", "unwound"] }, (call) => call.preempted > 0],
    ];
    for (const [selection, accepts] of selections) {
      const figures = work.filter((call) => accepts(call) && (selection.states ?? ["complete"]).includes(call.state));
      const states = selection.states ?? ["complete"];
      const page = await ask("ptlens/calls", { id, function: fn, selection: { ...selection, states }, order: "latency", descending: true });
      assert.equal(page.total, figures.length);
      assert.deepEqual(page.columns.latency, figures.map((call) => call.latency).sort((a, b) => b - a));
      sameCalls(jsonLines(output(helper, page.command.slice(1))), figures, page.command.join(" "));

      const report = await ask("ptlens/report", { id, function: fn, selection });
      assert.equal(report.latency.total, total(figures, (call) => call.latency));
      assert.deepEqual(json([...report.command.slice(1), "--json"]).latency, report.latency);
      const flame = await ask("ptlens/flame", { id, function: fn, selection, smallest: 0 });
      assert.equal(flame.nodes.inclusive[0], report.latency.total);
      assert.deepEqual(json([...flame.command.slice(1), "--format", "json"]).nodes, flame.nodes);
      const explained = await ask("ptlens/explain", { id, function: fn, selection });
      assert.deepEqual(json([...explained.command.slice(1), "--json"]).explain, explained.explain);

      const distribution = await ask("ptlens/distribution", { id, function: fn, selection, bins: 20, columns: 10, points: 5 });
      const counted = work.filter((call) => states.includes(call.state));
      assert.equal(distribution.total.calls, counted.length);
      assert.equal(distribution.selected.time, report.latency.total);
      assert.equal(distribution.selected.preempted, total(figures, (call) => call.preempted));
      for (const [index, bin] of distribution.bins.entries()) {
        const inBin = (call) => call.latency >= bin.low && call.latency < bin.high;
        assert.equal(bin.calls, counted.filter(inBin).length);
        assert.equal(bin.selected.calls, figures.filter(inBin).length);
        assert.equal(total(distribution.grid.selected.filter((_, cell) => cell % distribution.bins.length === index), (count) => count), bin.selected.calls);
      }
      assert.deepEqual(distribution.slowest.latency, counted.map((call) => call.latency).sort((a, b) => b - a).slice(0, 5));
    }
    const everything = await ask("ptlens/calls", { id, limit: 7, offset: 3 });
    assert.equal(everything.total, all.length);
    assert.deepEqual(everything.columns.start, all.slice(3, 10).map((call) => call.start));
    assert.deepEqual(everything.columns.function.map((index) => everything.functions[index].name), all.slice(3, 10).map((call) => call.function));
  });
});
