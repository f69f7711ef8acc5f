// The order server under ptsim: the truth of every call is known, and perf decodes the same file.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import {
  expectedCounts, helper, json, jsonLines, noPerf, orderServer, output, parseCounts, run, sampleFunction, simulator,
} from "./support.mjs";

const orders = 100;
const rounding = 2; // ns: each of two times is a whole number
const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";

// Bound at start, so that no call goes through the dynamic linker.
const environment = { ...process.env, LD_BIND_NOW: "1" };

function simulate(folder, terms = event, name = "perf.data") {
  const file = path.join(folder, name);
  const program = [orderServer, "--orders", String(orders), "--threads", "1", "--rate", "0"];
  const { status, stdout, stderr } = run(simulator, ["record", "-e", terms, "--start-at", "main", "-o", file, "--", ...program], { env: environment });
  if (status !== 0) return { why: stderr.trim() };
  return { file, printed: parseCounts(stdout), truth: jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8")) };
}

// Times of the call instructions that go to each address, ns, in order.
function startsOf(text, pattern, time) {
  const starts = new Map();
  for (const line of text.split("\n")) {
    const found = pattern.exec(line);
    if (!found) continue;
    if (!starts.has(found.groups.to)) starts.set(found.groups.to, []);
    starts.get(found.groups.to).push(time(found.groups));
  }
  return starts;
}

const startsOfOurs = (file) =>
  startsOf(output(helper, ["decode", "--events", "branches", file]), /^(?<ns>\d+)\t\d+\t\d+\tcall\t[0-9a-f]+\t(?<to>[0-9a-f]+)\t/, ({ ns }) => BigInt(ns));

const startsOfPerf = (file) =>
  startsOf(
    output("perf", ["script", "-f", "-i", file, "--itrace=cr", "--ns", "-F", "time,ip,addr,flags"]),
    /^\s*(?<seconds>\d+)\.(?<ns>\d{9}):\s+call\s+[0-9a-f]+ =>\s+(?<to>[0-9a-f]+)/,
    ({ seconds, ns }) => BigInt(seconds) * 1_000_000_000n + BigInt(ns),
  );

// How far the times are from the truth, ns, smallest first: of functions that are entered by calls alone.
function errorsOf(starts, truth) {
  const exact = new Map();
  for (const row of truth) {
    const to = BigInt(row.function).toString(16);
    if (!exact.has(to)) exact.set(to, []);
    exact.get(to).push(row);
  }
  const errors = [];
  for (const [to, rows] of exact) {
    const seen = starts.get(to) ?? [];
    if (seen.length !== rows.length || rows.some((row) => row.tail_call)) continue;
    const known = rows.map(({ start }) => BigInt(start)).sort((one, other) => Number(one - other));
    known.forEach((start, index) => errors.push(Math.abs(Number(seen[index] - start))));
  }
  return errors.sort((one, other) => one - other);
}

const quantile = (sorted, part) => sorted[Math.floor((sorted.length - 1) * part)];

function whyNot() {
  if (noPerf) return noPerf;
  if (!existsSync(simulator)) return `${simulator} is not built`;
  return run("perf", ["--version"]).status === 0 ? false : "perf does not run";
}

const key = (binary, address) => `${path.basename(binary)} ${BigInt(address).toString(16)}`;

function countBy(rows, keyOf) {
  const counts = new Map();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return counts;
}

describe("a simulated trace of the order server", { skip: whyNot() }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let file;
  let truth;
  let printed;
  let answer;

  before(() => {
    const made = simulate(folder);
    assert.equal(made.why, undefined, "ptsim made a recording");
    ({ file, printed } = made);
    truth = made.truth.filter((row) => row.function !== undefined);
    answer = json(["functions", "--json", file]);
  });

  const ours = (name) => {
    const rows = sampleFunction(answer.functions, name);
    assert.equal(rows.length, 1, name);
    return rows[0];
  };

  test("perf decodes it without an error", () => {
    const { stdout, stderr } = run("perf", ["script", "-f", "-i", file, "--itrace=e"]);
    assert.doesNotMatch(stdout + stderr, /instruction trace error/);
  });

  test("nothing is lost in our decode", () => {
    assert.equal(answer.recording.backend, "intel_pt");
    assert.equal(answer.recording.decode_errors, 0);
    assert.equal(answer.recording.gaps, 0);
  });

  test("libipt's instruction decoder emits the same branches, all of them", () => {
    const verdict = json(["verify", "--json", file]);
    assert.deepEqual([verdict.difference, verdict.given_up, verdict.unjudged], [null, 0, 0]);
    const branches = output(helper, ["decode", "--events", "branches", file]).split("\n").filter(Boolean);
    assert.equal(verdict.compared, branches.length);
  });

  test("the program's own counts", () => {
    assert.deepEqual(printed, expectedCounts(orders, 1));
    for (const [name, count] of Object.entries(printed)) {
      if (name === "rejected") continue;
      const row = ours(name);
      const unwound = ["accept_order", "validate_order"].includes(name) ? printed.rejected : 0;
      assert.deepEqual([row.complete, row.incomplete, row.unwound], [count - unwound, 0, unwound], name);
    }
  });

  // Stripped libraries hold functions without a name; whether a jump to one of them is a tail call or
  // stays inside the function cannot be determined from the file.
  test("calls of every function that has a symbol, in every state, equal the stepped truth", () => {
    const expected = new Map();
    for (const { binary, address, state, symbol } of truth) {
      if (symbol === "" || binary.startsWith("[")) continue;
      const name = key(binary, address);
      if (!expected.has(name)) expected.set(name, { complete: 0, incomplete: 0, unwound: 0 });
      expected.get(name)[state] += 1;
    }
    const found = new Map(answer.functions.map(({ binary, address, complete, incomplete, unwound }) => [key(binary, address), { complete, incomplete, unwound }]));
    assert.ok(expected.size > 50);
    const differences = [...expected.keys()]
      .filter((name) => JSON.stringify(expected.get(name)) !== JSON.stringify(found.get(name)))
      .map((name) => `${name}: truth ${JSON.stringify(expected.get(name))}, ptlens ${JSON.stringify(found.get(name))}`);
    assert.deepEqual(differences, []);
  });

  test("calls of the order server's functions equal those that perf decodes", () => {
    const text = output("perf", ["script", "-f", "-i", file, "--itrace=cr", "-F", "ip,addr,flags"]);
    const perfCalls = countBy(
      text.split("\n").map((line) => /^\s*call\s+([0-9a-f]+) =>\s+([0-9a-f]+)/.exec(line)).filter(Boolean),
      ([, , to]) => BigInt(`0x${to}`).toString(16),
    );
    for (const name of Object.keys(printed).filter((each) => !["rejected", "add_tax"].includes(each))) {
      const row = ours(name);
      const entry = truth.find(({ binary, address }) => key(binary, address) === key(row.binary, row.address)).function;
      assert.equal(row.complete + row.incomplete + row.unwound, perfCalls.get(BigInt(entry).toString(16)), name);
    }
  });

  test("one process of a recording can be asked about, by a pid that is in it", () => {
    const { pid } = answer.recording.thread_list[0];
    assert.deepEqual(json(["functions", "--json", "--pid", String(pid), file]).functions, answer.functions);
    const { status, stderr } = run(helper, ["functions", "--pid", "1", file]);
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`the recording contains no process 1; it contains ${pid} order_server\\n`));
  });

  test("tail calls are marked", () => {
    const calls = jsonLines(output(helper, ["calls", "--function", "add_tax", "--json-lines", file]));
    assert.equal(calls.length, printed.add_tax);
    assert.ok(calls.every(({ tail_call: tail }) => tail));
  });

  test("each latency agrees with the truth to within the resolution that is stated with it", () => {
    for (const name of ["handle_order", "price_order", "reserve_stock", "add_tax"]) {
      const row = ours(name);
      const calls = jsonLines(output(helper, ["calls", "--function", name, "--json-lines", file])).filter(({ state }) => state === "complete");
      const exact = truth
        .filter(({ binary, address, state }) => key(binary, address) === key(row.binary, row.address) && state === "complete")
        .sort((one, other) => one.start - other.start);
      assert.equal(calls.length, exact.length, name);
      const wrong = calls.filter((call, index) => Math.abs(call.latency - (exact[index].end - exact[index].start)) > call.resolution + rounding);
      assert.deepEqual(wrong, [], name);
      const mostly = json(["report", "--json", "--function", name, file]).latency.resolution;
      assert.ok(calls.filter(({ resolution }) => resolution <= mostly).length >= 0.95 * calls.length, name);
      assert.ok(mostly > 0 && mostly < 40, `${name} ± ${mostly} ns`);
    }
  });

  test("with CYC packets, times of calls differ from the truth by 2 ns in the median and 16 ns in the 99th percentile", () => {
    const errors = errorsOf(startsOfOurs(file), truth);
    assert.ok(errors.length > 2000, `${errors.length} calls`);
    assert.ok(quantile(errors, 0.5) <= 2, `median ${quantile(errors, 0.5)} ns`);
    assert.ok(quantile(errors, 0.99) <= 16, `99th percentile ${quantile(errors, 0.99)} ns`);
  });

  test("with MTC packets alone, times are no worse than perf's on the same file", () => {
    const coarse = simulate(folder, "intel_pt/mtc,mtc_period=3,psb_period=0,noretcomp=0/u", "coarse.data");
    assert.equal(coarse.why, undefined, "ptsim made a recording");
    const coarseTruth = coarse.truth.filter((row) => row.function !== undefined);
    const mine = errorsOf(startsOfOurs(coarse.file), coarseTruth);
    const theirs = errorsOf(startsOfPerf(coarse.file), coarseTruth);
    assert.ok(mine.length > 2000 && mine.length === theirs.length);
    for (const part of [0.5, 0.9, 0.99]) assert.ok(quantile(mine, part) <= quantile(theirs, part), `${part}: ours ${quantile(mine, part)} ns, perf's ${quantile(theirs, part)} ns`);
  });

  test("a sleep is off-CPU time", () => {
    const report = json(["report", "--json", "--function", "write_audit", file]);
    assert.equal(report.calls.complete, Math.floor(orders / 100));
    assert.ok(report.off_cpu.mean >= 4_900_000, `${report.off_cpu.mean} ns`);
    assert.ok(report.latency.min >= 5_000_000);
    assert.ok(report.outside_user_code.total >= report.off_cpu.total, "a thread is switched out in the kernel");
    assert.ok(report.outside_user_code.total <= report.latency.total);
    const busy = json(["report", "--json", "--function", "category_discount", file]);
    assert.equal(busy.outside_user_code.total, 0, "no system call is made in it");
  });

  test("self times add up to no more than what was traced", () => {
    const { recording, functions } = answer;
    const self = functions.reduce((total, row) => total + row.self, 0);
    assert.ok(self <= recording.trace_ns * 1.0001, `self ${self} ns, traced ${recording.trace_ns} ns`);
    functions.forEach((row) => assert.ok(row.inclusive <= recording.trace_ns, row.name));
  });
});
