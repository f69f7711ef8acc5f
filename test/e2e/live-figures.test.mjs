// A function that spins for a known time (test/samples/live/spins.cpp), measured live: is the truth near the stated uncertainty?
// How often it is within, and whether means are, is for `npm run bench -- live`: means depend on what else the machine does.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { engines, measured } from "./live-programs.mjs";

const ownError = 0.004; // of the rate of the program's clock, and of its percentiles

for (const engine of engines) {
  describe(`with ${engine.backend}`, { skip: engine.skip }, () => {
    const spins = [["spin", 1, 1_000, 250], ["spin", 2, 1_000, 250], ["spin_bare", 2, 1_000, 1_500], ["spin", 20, 500, 500], ["spin", 200, 100, 2_000]];
    for (const [name, us, calls, every] of spins) {
      test(`${name}: a function that spins ${us} µs is measured within the stated uncertainty`, (t) => {
        const { truth, shown } = measured(t, engine, "spins", name, ["--ns", us * 1_000, "--calls", calls, "--every", every * 1_000, "--bare", Number(name === "spin_bare")].map(String));
        const uncertainty = shown.uncertainty.p50;
        assert.ok(Number.isFinite(uncertainty) && uncertainty > 0, `uncertainty: ${uncertainty}`);
        assert.ok(Math.abs(shown.p50 - truth.p50) <= uncertainty + ownError * truth.p50, `${shown.p50} ± ${uncertainty} ns, in truth ${truth.p50} ns`);
      });
    }
  });
}
