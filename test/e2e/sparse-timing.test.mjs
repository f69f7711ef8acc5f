// How well the time of a call is known where timing packets are rare: the order server under ptsim, with MTC and TSC packets
// only. The packets are those that perf prints, and their times follow from the SDM's arithmetic.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { helper, json, jsonLines, noPerf, noTraces, orderServer, output, run, simulator, traces } from "./support.mjs";

const mtcPeriod = 9; // an MTC every 2^9 ticks of the crystal clock
const terms = `intel_pt/mtc,mtc_period=${mtcPeriod},psb_period=0,noretcomp=0/u`;
const rounding = 2; // ns
const functions = ["handle_order", "price_order", "reserve_stock", "validate_order"];

const ascending = (numbers) => numbers.sort((one, other) => one - other);

/**
 * Returns the times of the timing packets in ns, as perf prints the packets, and those at which the kernel announced trace,
 * which was older then.
 */
function packetTimes(file) {
  const { stdout } = run("perf", ["script", "-f", "-D", "-i", file], { maxBuffer: 1 << 28 });
  const field = (name) => BigInt(new RegExp(`^ *(?:\\.\\.\\. )?${name} +(\\d+)`, "m").exec(stdout)[1]);
  const shift = field("Time Shift");
  const multiplier = field("Time Mul\\w+");
  const zero = field("Time Zero");
  const perCrystal = field("TSC:CTC numerator") / field("TSC:CTC denominator");
  const period = 1n << BigInt(mtcPeriod);
  const toNs = (tsc) => Number(BigInt.asUintN(64, zero + ((tsc * multiplier) >> shift)));
  const times = [];
  let tsc = 0n;
  let crystal; // of the last timing packet
  for (const [, kind, text] of stdout.matchAll(/^\. .* (TSC|TMA|MTC) (.*)$/gm)) {
    if (kind === "TSC") {
      tsc = BigInt(text.trim());
      times.push(toNs(tsc));
    } else if (kind === "TMA") {
      const [, count, fast] = /CTC (0x\w+) FC (0x\w+)/.exec(text);
      crystal = BigInt(count);
      tsc -= BigInt(fast); // the TSC at the crystal's tick
    } else {
      // The payload is bits 7 to 0 of the crystal clock above those of the period.
      let next = (crystal / period + 1n) * period;
      while (((next >> BigInt(mtcPeriod)) & 0xffn) !== BigInt(text.trim())) next += period;
      tsc += (next - crystal) * perCrystal;
      crystal = next;
      times.push(toNs(tsc));
    }
  }
  const announced = [...stdout.matchAll(/^\d+ (\d+) .*: PERF_RECORD_AUX offset/gm)].map(([, ns]) => Number(ns));
  return { times: ascending(times), announced: ascending(announced) };
}

/** Returns the length of the time between the packets around `time`, or until the kernel saw the trace. */
function widthAt({ times, announced }, time) {
  const next = times.findIndex((each) => each > time);
  assert.ok(next > 0, "a packet before and one after");
  const seen = announced.find((each) => each >= time) ?? Infinity;
  return Math.min(times[next], seen) - times[next - 1];
}

/** Says in the recording that cycle packets were asked for. It has none. */
function claimCycles(file, changed) {
  const bytes = readFileSync(file);
  const size = Number(bytes.readBigUInt64LE(16));
  const first = Number(bytes.readBigUInt64LE(24));
  const end = first + Number(bytes.readBigUInt64LE(32));
  const tscBit = 0x400n;
  const cycBit = 2n;
  let attributes = 0;
  for (let at = first; at < end; at += size) {
    const config = bytes.readBigUInt64LE(at + 8);
    if ((config & tscBit) === 0n) continue;
    bytes.writeBigUInt64LE(config | cycBit, at + 8);
    attributes += 1;
  }
  assert.equal(attributes, 1);
  writeFileSync(changed, bytes);
}

const why = noPerf || (existsSync(simulator) ? false : `${simulator} is not built`);

describe("a trace with an MTC packet every 20 µs", { skip: why }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "perf.data");
  let truth;
  let packets;
  const callsOf = (recording, name) => jsonLines(output(helper, ["calls", "--no-cache", "--function", name, "--json-lines", recording])).filter(({ state }) => state === "complete");

  before(() => {
    const program = [orderServer, "--orders", "60", "--threads", "1", "--rate", "0"];
    output(simulator, ["record", "-e", terms, "--per-thread", "--start-at", "main", "-o", file, "--", ...program], { env: { ...process.env, LD_BIND_NOW: "1" } });
    truth = jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8"));
    packets = packetTimes(file);
  });

  // A TNT packet is sent once it is full, which can be after the next timing packet; and the kernel's own times narrow some
  // intervals. So single calls are known worse or better than the packets around their ends say.
  test("each latency is known to within ±, which is the width between the timing packets around both ends", () => {
    for (const name of functions) {
      const calls = callsOf(file, name);
      const exact = truth
        .filter(({ symbol, state }) => symbol?.includes(name) && state === "complete")
        .sort((one, other) => one.start - other.start);
      assert.equal(calls.length, exact.length, name);
      assert.ok(calls.length > 20, name);
      const ratios = [];
      calls.forEach((call, index) => {
        const { start, end } = exact[index];
        assert.ok(Math.abs(call.latency - (end - start)) <= call.resolution + rounding, `${name} ${index}: the truth is within ±`);
        if (start < packets.times[0] || end >= packets.times.at(-1)) return;
        const width = (widthAt(packets, start) + widthAt(packets, end)) / 2;
        assert.ok(call.resolution > 0 || width <= rounding, `${name} ${index}: ± 0`);
        ratios.push(call.resolution / width);
      });
      assert.ok(ratios.length > 20, name);
      const typical = ascending(ratios)[Math.floor(ratios.length / 2)];
      assert.ok(typical > 0.5 && typical < 2, `${name}: ± is ${typical} times the width`);
    }
  });

  test("nor is it 0 where cycle packets were asked for and none came", () => {
    const claimed = path.join(folder, "claimed.data");
    claimCycles(file, claimed);
    for (const name of functions) assert.deepEqual(callsOf(claimed, name), callsOf(file, name));
    const resolution = (recording) => json(["functions", "--json", "--no-cache", recording]).recording.resolution_ns;
    assert.equal(resolution(claimed), resolution(file));
    assert.ok(resolution(claimed) > 1000);
  });
});

test("a recording whose code is all missing has the resolution of its MTC packets", { skip: noTraces }, () => {
  const file = path.join(traces, "quipper-hello-world", "perf.data");
  const { recording } = json(["functions", "--json", "--no-cache", file]);
  // An MTC every 8 ticks of a crystal of 24 MHz: 333 ns.
  assert.ok(recording.resolution_ns >= 333, `± ${recording.resolution_ns} ns`);
});
