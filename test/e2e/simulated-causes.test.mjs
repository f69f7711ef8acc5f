// Simulated traces of programs whose slow calls have a known cause: the answer names it.
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { expected, explain, record } from "./causes.mjs";
import { simulator, temporaryFolder } from "./support.mjs";

const noSimulator = existsSync(simulator) ? false : `${simulator} is not built`;
const simulated = (recording, program) => [simulator, ["record", "-e", "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u", "--start-at", "main", "-o", recording, "--", ...program]];

const stepped = { calls: 60, every: 10, scale: 10 };

describe("a simulated trace", { skip: noSimulator }, () => {
  for (const cause of ["count", "branch", "fsync", "two"]) {
    test(cause, (t) => {
      const recorded = record(temporaryFolder(t), cause, stepped, simulated);
      expected[cause](explain(recorded), recorded, stepped);
    });
  }
});
