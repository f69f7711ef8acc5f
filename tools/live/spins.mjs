// A function that spins for a known time, measured with probes again and again, on an idle and on a busy machine: how often
// does the truth lie within the stated uncertainty? "bare" is a function whose first instruction the kernel does not emulate.
import { spawn } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { compile, readTruth, shownFigures } from "../../test/samples/live/samples.mjs";
import { capture, say, StepError } from "../steps.mjs";
import { helper } from "./helper.mjs";
import { median, number, table } from "./text.mjs";

const share = 19 / 20;
const durations = [
  { ns: 1_000, calls: 2_000, every: 250_000 },
  { ns: 2_000, calls: 2_000, every: 250_000 },
  { ns: 2_000, calls: 2_000, every: 250_000, bare: 1 },
  { ns: 20_000, calls: 1_000, every: 500_000 },
  { ns: 200_000, calls: 300, every: 2_000_000 },
];
const allowed = (ns) => 1_000 + 0.05 * ns;

/** One run: what is shown, and the truth of the same run. */
function once(folder, program, { ns, calls, every, bare = 0 }, run) {
  const measured = bare > 0 ? "spin_bare" : "spin";
  const [recording, file] = [`spins-${run}`, "spins.truth"].map((name) => path.join(folder, name));
  const args = ["--truth", file, "--ns", ns, "--calls", calls, "--every", every, "--bare", bare].map(String);
  const recorded = capture(helper, ["record", "--backend", "uprobe", "--function", measured, "-o", recording, "--", program, ...args]);
  if (recorded.status !== 0) throw new StepError(`ptlens record ended with status ${recorded.status}: ${recorded.stderr.trim()}`);
  const shown = shownFigures(JSON.parse(capture(helper, ["report", "--json", "--function", measured, recording]).stdout));
  return { shown, truth: readTruth(file).functions[measured] };
}

function row(folder, program, duration, runs, name) {
  const taken = Array.from({ length: runs }, (_, run) => once(folder, program, duration, `${name}-${duration.ns}-${duration.bare}-${run}`));
  const within = (figure) => taken.filter(({ shown, truth }) => Math.abs(shown[figure] - truth[figure]) <= shown.uncertainty[figure]).length;
  const of = (value) => median(taken.map(value));
  const uncertainty = of(({ shown }) => shown.uncertainty.mean);
  const verdict = [
    Math.min(within("p50"), within("mean")) >= share * runs ? "" : `less than ${Math.ceil(share * runs)} of ${runs} within`,
    name === "busy" || uncertainty <= allowed(duration.ns) ? "" : `uncertainty above ${number(allowed(duration.ns))} ns`,
  ].filter(Boolean).join(", ");
  return [
    `${duration.ns / 1000} µs${duration.bare ? ", bare" : ""}, ${name}`, `${within("mean")} of ${runs}`, `${within("p50")} of ${runs}`, number(uncertainty), number(of(({ truth }) => truth.mean)),
    number(of(({ shown }) => shown.mean)), number(of(({ truth }) => truth.p50)), number(of(({ shown }) => shown.p50)), number(of(({ truth }) => truth.p99)), number(of(({ shown }) => shown.p99)), verdict || "met",
  ];
}

/** The table of all durations, idle and busy. Times in ns, medians of the runs. */
export function benchSpins(folder, runs) {
  const program = compile("spins", folder);
  const rows = [];
  for (const name of ["idle", "busy"]) {
    const load = name === "busy" ? Array.from({ length: os.availableParallelism() }, () => spawn(program, ["--calls", "0", "--ns", "1000000"], { stdio: "ignore" })) : [];
    try {
      for (const duration of durations) {
        say(`spins of ${duration.ns / 1000} µs, ${name}: ${runs} runs`);
        rows.push(row(folder, program, duration, runs, name));
      }
    } finally {
      load.forEach((child) => child.kill("SIGKILL"));
    }
  }
  const head = ["spin", "mean within ±", "p50 within ±", "±", "true mean", "mean", "true p50", "p50", "true p99", "p99", "target"];
  return `### A function that spins for a known time\n\nTarget: mean and p50 within the stated uncertainty in 19 of 20 runs; idle, an uncertainty of at most 1 µs + 5 %.\n\n${table(head, rows)}\n`;
}
