// The order server under ptsim: the truth of every call is known, and perf decodes the same file.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import {
  expectedCounts, helper, json, jsonLines, noPerf, orderServer, output, parseCounts, run, sampleFunction, simulator,
} from "./support.mjs";

const orders = 120;
const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";

// Bound at start, so that no call goes through the dynamic linker.
const environment = { ...process.env, LD_BIND_NOW: "1" };

function simulate(folder) {
  const file = path.join(folder, "perf.data");
  const program = [orderServer, "--orders", String(orders), "--threads", "1", "--rate", "0"];
  const { status, stdout, stderr } = run(simulator, ["record", "-e", event, "--start-at", "main", "-o", file, "--", ...program], { env: environment });
  if (status !== 0) return { why: stderr.trim() };
  return { file, printed: parseCounts(stdout), truth: jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8")) };
}

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
  // stays inside the function cannot be told from the file.
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

  test("tail calls are marked", () => {
    const calls = jsonLines(output(helper, ["calls", "--function", "add_tax", "--json-lines", file]));
    assert.equal(calls.length, printed.add_tax);
    assert.ok(calls.every(({ tail_call: tail }) => tail));
  });

  // A time is that of the last timing packet, so an end of a call is early by at most one distance
  // between packets; the stated resolution is the median of these distances.
  test("latencies agree with the truth within the timing resolution", () => {
    const resolution = answer.recording.resolution_ns;
    assert.ok(resolution > 0);
    for (const name of ["handle_order", "price_order", "reserve_stock"]) {
      const row = ours(name);
      const calls = jsonLines(output(helper, ["calls", "--function", name, "--json-lines", file])).filter(({ state }) => state === "complete");
      const exact = truth
        .filter(({ binary, address, state }) => key(binary, address) === key(row.binary, row.address) && state === "complete")
        .sort((one, other) => one.start - other.start);
      assert.equal(calls.length, exact.length, name);
      const errors = calls.map((call, index) => Math.abs(call.latency - (exact[index].end - exact[index].start))).sort((one, other) => one - other);
      assert.ok(errors[Math.floor(errors.length / 2)] <= resolution, `${name}: median error ${errors[Math.floor(errors.length / 2)]} ns, resolution ${resolution} ns`);
    }
  });

  test("a sleep is off-CPU time", () => {
    const report = json(["report", "--json", "--function", "write_audit", file]);
    assert.equal(report.calls.complete, Math.floor(orders / 100));
    assert.ok(report.off_cpu.mean >= 4_900_000, `${report.off_cpu.mean} ns`);
    assert.ok(report.latency.min >= 5_000_000);
  });

  test("self times add up to no more than what was traced", () => {
    const { recording, functions } = answer;
    const self = functions.reduce((total, row) => total + row.self, 0);
    assert.ok(self <= recording.trace_ns * 1.0001, `self ${self} ns, traced ${recording.trace_ns} ns`);
    functions.forEach((row) => assert.ok(row.inclusive <= recording.trace_ns, row.name));
  });
});
