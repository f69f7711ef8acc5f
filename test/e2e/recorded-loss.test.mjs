// Faults on demand in recordings of a stepped program: every branch that the trace still contains is emitted,
// per thread and in order, and none that it does not hold.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { helper, json, jsonLines, orderServer, output, run, simulator, temporaryFolder } from "./support.mjs";

const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";

function record(t, fault, ...options) {
  const file = path.join(temporaryFolder(t), "perf.data");
  const program = [orderServer, "--orders", "8", "--threads", "2", "--rate", "0"];
  output(simulator, ["record", "-e", event, "--start-at", "main", "--branches", "--fault", fault, ...options, "-o", file, "--", ...program]);
  return { file, truth: jsonLines(readFileSync(`${file}.truth.jsonl`, "utf8")) };
}

const transfers = new Set(["call", "return", "jump", "cond", "indirect"]);

function byThread(rows) {
  const threads = new Map();
  for (const { tid, transfer } of rows) {
    if (!threads.has(tid)) threads.set(tid, []);
    threads.get(tid).push(transfer);
  }
  return threads;
}

// Kind, from, to of each branch inside user code.
const fields = (text) => text.split("\n").filter(Boolean).map((line) => line.split("\t"));
const decoded = (file) =>
  byThread(fields(output(helper, ["decode", "--events", "branches", file]))
    .filter(([, , , kind]) => transfers.has(kind)).map(([, tid, , kind, from, to]) => ({ tid, transfer: `${kind} ${from} ${to}` })));
const stepped = (file) =>
  byThread(fields(readFileSync(`${file}.truth.branches.tsv`, "utf8"))
    .filter(([, , , kind, , , lost]) => transfers.has(kind) && lost === "0").map(([tid, from, to, kind]) => ({ tid, transfer: `${kind} ${from} ${to}` })));

// Stretches of branches that the trace has lost: two losses with nothing kept between them are one.
function lostStretches(file) {
  const lost = new Map();
  let stretches = 0;
  for (const [tid, , , , , , isLost] of fields(readFileSync(`${file}.truth.branches.tsv`, "utf8"))) {
    stretches += isLost !== "0" && lost.get(tid) !== isLost ? 1 : 0;
    lost.set(tid, isLost);
  }
  return stretches;
}

describe("a recording with faults", { skip: existsSync(simulator) ? false : `${simulator} is not built` }, () => {
  for (const [fault, ...options] of [
    ["ovf:every=400"], ["truncate:every=1500"], ["cut:every=1500"], ["cut:every=1500", "--per-thread", "--switch-events"],
  ]) {
    test([fault, ...options].join(" "), (t) => {
      const { file, truth } = record(t, fault, ...options);
      const losses = truth.filter((row) => row.lost !== undefined);
      assert.ok(losses.length > 0, `${losses.length} losses`);
      const expected = stepped(file);
      const found = decoded(file);
      assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
      for (const [tid, transfers] of expected) assert.deepEqual(found.get(tid), transfers, `thread ${tid}`);
      const { recording } = json(["functions", "--json", file]);
      const stretches = lostStretches(file);
      const said = `${recording.gaps} gaps, ${stretches} stretches of lost branches, ${losses.length} losses`;
      assert.ok(stretches <= recording.gaps && recording.gaps <= losses.length, said);
      assert.equal(recording.decode_errors, 0);
      assert.equal(run(helper, ["verify", file]).status, 0);
    });
  }
});
