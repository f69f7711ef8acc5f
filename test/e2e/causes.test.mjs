// Live recordings of programs whose slow calls have a known cause: the answer names it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { expected, explain, quantile, record } from "./causes.mjs";
import { helper, json, noProbes, probesWithoutBudget, temporaryFolder } from "./support.mjs";

const noUftrace = spawnSync("uftrace", ["--version"]).status === 0 ? false : "uftrace is not installed";
const withUftrace = (recording, program) => [helper, ["record", "--backend", "uftrace", "-o", recording, "--", ...program]];
const withProbes = (recording, program) => [helper, ["record", ...probesWithoutBudget, "--function", "work", "-o", recording, "--", ...program]];

const live = { calls: 2000, every: 25, scale: 400 };

describe("recorded with uftrace", { skip: noUftrace }, () => {
  for (const [cause, check] of Object.entries(expected)) {
    test(cause, (t) => {
      const size = { ...live, ...(cause === "cold" && { calls: 4000, every: 200, scale: 1500 }), ...(cause === "preempted" && { scale: 1500 }) };
      const recorded = record(temporaryFolder(t), cause, size, withUftrace);
      check(explain(recorded), recorded, size);
    });
  }

  test("none", (t) => {
    // Calls that differ by far more than what hooks add to them: else the largest part is the function's own time.
    const recorded = record(temporaryFolder(t), "none", { ...live, scale: 8 * live.scale }, withUftrace);
    const latencies = recorded.list.map(({ latency }) => latency);
    const range = [0.9, 0.96].map((share) => Math.round(quantile(latencies, share))).join(",");
    const answer = json(["explain", recorded.recording, "--function", "work", "--json", "--slow", range]).explain;
    assert.equal(answer.gap_is_uncertain, false, answer.sentence);
    assert.match(answer.sentence, /No single cause: the largest explains \d+ %/);
    assert.equal(answer.main_cause, "");
  });
});

// Probes on a callee that is called thousands of times in one call take longer than the call itself: such causes are left out.
describe("recorded with probes", { skip: noProbes }, () => {
  for (const cause of ["lock", "fsync", "fault", "mmap"]) {
    test(cause, (t) => {
      const recorded = record(temporaryFolder(t), cause, live, withProbes);
      expected[cause](explain(recorded), recorded, live);
    });
  }
});
