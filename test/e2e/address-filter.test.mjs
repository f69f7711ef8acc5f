// Traces that the processor's address filter cut to one function: a made-up walk over the code of the
// order server and libc, of which the truth of every call is known, also where nothing was traced.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { helper, json, jsonLines, noPerf, orderServer, output, run, simulator, temporaryFolder } from "./support.mjs";

const libc = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"].find(existsSync);
const rounding = 2; // ns: each of two times is a whole number

function whyNot() {
  if (noPerf) return noPerf;
  if (!existsSync(simulator)) return `${simulator} is not built`;
  return libc === undefined ? "libc.so.6 is not where Debian has it" : false;
}

// A recording filtered to a function of libc, and the rows of truth that are about it or made from it.
function record(t, symbol, ...options) {
  const file = path.join(temporaryFolder(t), "perf.data");
  const truthFile = `${file}.truth`;
  output(simulator, [
    "synth", "-o", file, "--truth", truthFile, "--seed", "5", "--calls", "60000", "--threads", "2", "--cpus", "2", "--style", "call-heavy", "--cyc",
    "--filter", `filter ${symbol} @ libc.so.6`, ...options, orderServer, libc,
  ]);
  const rows = jsonLines(readFileSync(truthFile, "utf8")).filter((row) => row.function !== undefined);
  return { file, rows, truth: rows.filter((row) => row.symbol === symbol) };
}

const oursOf = (file, address) => jsonLines(output(helper, ["calls", "--json-lines", "--function", `@${address}`, "--binary", "libc.so.6", file]));

// The ELF address of a process address: the binary that holds it is the one that begins highest below it, by the addresses of
// its functions.
function elfAddressIn(rows) {
  const begins = new Map(); // lowest function of a binary by its bias
  for (const row of rows) {
    const at = BigInt(row.function);
    const bias = at - BigInt(row.address);
    if (!begins.has(bias) || at < begins.get(bias)) begins.set(bias, at);
  }
  const highestFirst = [...begins].sort(([, one], [, other]) => (one < other ? 1 : -1));
  return (address) => BigInt(address) - highestFirst.find(([, begin]) => begin <= BigInt(address))[0];
}

const byStart = (one, other) => one.tid - other.tid || one.start - other.start;

describe("a trace that was filtered to one function", { skip: whyNot() }, () => {
  for (const symbol of ["__libc_malloc", "pthread_sigmask", "__res_context_mkquery"]) {
    test(`${symbol}: every call from entering the range to leaving it for the caller`, (t) => {
      const { file, truth } = record(t, symbol);
      assert.ok(truth.length > 100, `${truth.length} calls`);
      const { address } = truth[0];
      const ours = oursOf(file, address).sort(byStart);
      const ended = truth.filter((row) => row.end !== null).sort(byStart);
      const complete = ours.filter(({ state }) => state === "complete");
      assert.ok(complete.length >= 0.9 * ended.length, `${complete.length} of ${ended.length}`);
      // Each of ours is a true call, with its times; what ended by a jump out of the range is incomplete.
      const known = new Map(ended.map((row) => [row.tid, []]));
      for (const row of ended) known.get(row.tid).push(row);
      assert.equal(ours.length, ended.length);
      for (const [index, call] of ours.entries()) {
        const row = ended[index];
        assert.equal(call.tid, row.tid);
        assert.ok(Math.abs(call.start - row.start) <= call.resolution + rounding, `call ${index} begins at ${call.start}, not ${row.start}`);
        if (call.state !== "complete") continue;
        assert.ok(Math.abs(call.latency - (row.end - row.start)) <= call.resolution + rounding, `call ${index} takes ${call.latency} ns, not ${row.end - row.start}`);
        assert.ok(Math.abs(call.off_cpu - row.off_cpu) <= call.resolution + rounding, `call ${index} is off-CPU for ${call.off_cpu} ns, not ${row.off_cpu}`);
      }
    });
  }

  test("callers come from the return addresses, and the report says what a filter hides", (t) => {
    const { file, rows, truth } = record(t, "pthread_sigmask");
    const elfAddress = elfAddressIn(rows);
    const report = json(["report", "--json", "--function", `@${truth[0].address}`, "--binary", "libc.so.6", file]);
    assert.equal(report.callers.reduce((sum, row) => sum + row.calls, 0), report.calls.complete);
    // One that was entered by a jump returns to its caller's caller: that is the site then.
    const called = truth.filter((row) => !row.tail_call);
    assert.ok(called.length > 100);
    const expected = new Map();
    for (const row of called) {
      const site = `0x${elfAddress(row.caller).toString(16)}`;
      expected.set(site, (expected.get(site) ?? 0) + 1);
    }
    const found = new Map();
    for (const row of report.callers) found.set(row.call_site, (found.get(row.call_site) ?? 0) + row.calls);
    for (const [site, calls] of expected) assert.ok(found.get(site) >= calls, `${site}: ${found.get(site)} of ${calls}`);
    assert.ok(found.size - expected.size <= truth.length - called.length);
    assert.ok(report.recording.notes.some(({ code }) => code === "address_filter"));
  });

  test("perf decodes it without an error, and libipt tells the same branches", (t) => {
    const { file } = record(t, "__libc_malloc");
    const { stdout, stderr } = run("perf", ["script", "-f", "-i", file, "--itrace=e"]);
    assert.doesNotMatch(stdout + stderr, /instruction trace error/);
    const verdict = json(["verify", "--json", file]);
    assert.deepEqual([verdict.difference, verdict.given_up], [null, 0]);
    assert.ok(verdict.compared > 1000);
  });
});
