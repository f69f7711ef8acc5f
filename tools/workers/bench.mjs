// npm run bench -- workers: how decoding would scale with up to 64 processors. One thread decodes each segment in the place of each
// worker, so that the work is counted and not what processors take from each other (helper/bench/simulated_workers.cpp).
//
//   --mb N        size of each trace (64)
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildNative } from "../build.mjs";
import { number, table } from "../live/text.mjs";
import { setUp } from "../setup.mjs";
import { at, capture, say, StepError, wholeNumber } from "../steps.mjs";
import { walkedCode } from "../walked-code.mjs";

const megabyte = 1 << 20;
const usual = ["--cyc", "--per-thread", "--syscalls-every", "20"];
const kinds = () => [
  { name: "branchy", args: ["--style", "branchy", ...usual, ...walkedCode()] },
  { name: "predictable", args: ["--style", "predictable", ...usual, ...walkedCode()] },
  { name: "65,000 functions", args: ["--functions", "65000", ...usual, realpathSync(process.execPath), ...walkedCode().slice(1)] },
];

function stdoutOf(program, args) {
  const { status, stdout, stderr } = capture(program, args);
  if (status !== 0) throw new StepError(`${path.basename(program)} failed: ${stderr.trim().slice(0, 300)}`);
  return stdout;
}

export async function benchWorkers(args) {
  const { values } = parseArgs({ args, options: { mb: { type: "string", default: "64" } } });
  const mb = wholeNumber("mb", values.mb, 4096);
  await setUp({});
  await buildNative({ targets: ["ptsim", "bench_workers"] });
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-workers-"));
  try {
    for (const { name, args: made } of kinds()) {
      const file = path.join(folder, "perf.data");
      stdoutOf(at("helper/build/ptsim/ptsim"), ["synth", "-o", file, "--seed", "1", "--bytes", String(mb * megabyte), ...made]);
      const { segments, decoding, in_order: inOrder, encoding, finishing, workers } = JSON.parse(stdoutOf(at("helper/build/bench_workers"), [file]));
      const parts = [[decoding, "for segments"], [inOrder, "in order"], [encoding, "to encode blocks"], [finishing, "to finish the cache"]];
      say(`\n### ${name}, ${mb} MB in ${number(segments)} segments: ${parts.map(([time, what]) => `${number(time, 2)} s ${what}`).join(", ")}\n`);
      say(table(["workers", "encoders", "s", "times as fast", "CPU time for segments, s"], workers.map((each) => [
        number(each.workers), number(each.encoders), number(each.whole, 2), number(workers[0].whole / each.whole, 2), number(each.decoding, 2),
      ])));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
