// Not run by npm test yet: rename to live-figures.test.mjs when reports state the uncertainty of each figure.
// A function that spins for a known time (test/samples/live/spins.cpp), measured live: is the truth within the stated uncertainty?
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { engines, measured } from "./live-programs.mjs";

const ownError = 0.002; // of the rate of the program's clock, and of its percentiles

for (const engine of engines) {
  describe(`with ${engine.backend}`, { skip: engine.skip }, () => {
    // A call that loses the processor in a probe is longer than it knows: not all of the off-CPU time is in its own clock.
    const spins = [["spin", 1, 1_000, 250], ["spin", 2, 1_000, 250], ["spin_bare", 2, 1_000, 250], ["spin", 20, 500, 500], ["spin", 200, 100, 2_000]];
    for (const [name, us, calls, every] of spins) {
      test(`${name}: a function that spins ${us} µs is measured within three times the stated uncertainty`, (t) => {
        const ns = us * 1_000;
        const { truth, report, shown } = measured(t, engine, "spins", name, ["--ns", ns, "--calls", calls, "--every", every * 1_000, "--bare", Number(name === "spin_bare")].map(String));
        const within = (figure, expected, more = 0) => {
          const uncertainty = shown.uncertainty[figure];
          assert.ok(Number.isFinite(uncertainty) && uncertainty > 0, `uncertainty of ${figure}: ${uncertainty}`);
          assert.ok(Math.abs(shown[figure] - expected) <= 3 * uncertainty + ownError * expected + more, `${figure} ${shown[figure]} ± ${uncertainty} ns, in truth ${expected} ns`);
        };
        within("p50", ns);
        const preempted = truth.mean - truth.p50;
        within("mean", ns + preempted, Math.max(0, report.off_cpu.mean - preempted));
      });
    }
  });
}
