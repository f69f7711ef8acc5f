// What `npm run bench -- live` measures a program with: nothing, PT Lens in its ways, and bpftrace. Each run resolves to the
// program's account of it and { seen?, estimated?, lost?, shown?, notes?, slowdown?, took? } of what measured it.
import { rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { shownFigures } from "../../test/samples/live/samples.mjs";
import { capture, onPath, runLines, StepError } from "../steps.mjs";
import { helper } from "./helper.mjs";
import { symbolOf } from "./programs.mjs";

const recordingIn = (folder) => path.join(folder, "recording");

/** Runs `ptlens record`. */
async function record(folder, measured, args) {
  const recording = recordingIn(folder);
  rmSync(recording, { recursive: true, force: true });
  const output = [];
  const begin = Date.now();
  const status = await runLines(helper, ["record", "--function", measured, "-o", recording, ...args], (line) => output.push(line));
  const took = (Date.now() - begin) / 1000;
  if (status !== 0) throw new StepError(`ptlens record ended with status ${status}: ${output.slice(-3).join(" ")}`);
  return { took, output: output.join("\n") };
}

/** What the report says of the recording. */
function report(folder, measured) {
  const recording = recordingIn(folder);
  const asked = capture(helper, ["report", "--json", "--function", measured, recording]);
  if (asked.status !== 0) throw new StepError(`ptlens report ended with status ${asked.status}: ${asked.stderr.trim()}`);
  const figures = JSON.parse(asked.stdout);
  const { complete, incomplete, unwound } = figures.calls;
  const { lost_records: lost = 0, notes, slowdown, estimate } = figures.recording;
  const estimated = estimate && complete * estimate.factor;
  return { seen: complete + incomplete + unwound, estimated, lost, shown: shownFigures(figures), notes, slowdown };
}

const attachedPtlens = (name, more) => ({
  name,
  async run(target, { folder, measured, seconds }) {
    let found;
    const account = await target.attached(async (pid) => {
      found = await record(folder, measured, ["--backend", "uprobe", "--pid", String(pid), "--duration", String(seconds), ...more]);
    }, seconds);
    return { ...account, ...found, ...report(folder, measured) };
  },
});

const uftrace = {
  name: "ptlens, uftrace",
  async run(target, { folder, measured, seconds }) {
    const found = await record(folder, measured, ["--backend", "uftrace", "--", ...target.command(seconds)]);
    return { ...target.counted(found.output, seconds), ...found, ...report(folder, measured) };
  },
};

/** Count, mean and 99th percentile of an entry and a return probe; the percentile to 1 % of 100 µs. */
const bpftraceProgram = (binary, symbol, seconds) => `
  uprobe:${binary}:${symbol} { @start[tid] = nsecs; }
  uretprobe:${binary}:${symbol} /@start[tid]/ { $ns = nsecs - @start[tid]; @calls = stats($ns); @latency = lhist($ns, 0, 1000000, 1000); delete(@start[tid]); }
  interval:s:${Math.ceil(seconds)} { exit(); }
  END { clear(@start); }`;

function readBpftrace(lines) {
  const data = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line)).reduce((all, { data: each }) => ({ ...all, ...each }), {});
  const { count = 0, average = 0 } = data["@calls"] ?? {};
  let above = count * 0.99;
  const bucket = (data["@latency"] ?? []).find((each) => (above -= each.count) <= 0);
  return { seen: count, lost: 0, shown: { mean: average, p99: bucket ? (bucket.max ?? bucket.min) : 0 } };
}

const bpftrace = {
  name: "bpftrace, entry and return",
  async run(target, { measured, seconds }) {
    const lines = [];
    const text = bpftraceProgram(target.program, symbolOf(target.program, measured), seconds);
    const account = await target.attached(async () => {
      const status = await runLines("bpftrace", ["-f", "json", "-e", text], (line) => lines.push(line));
      if (status !== 0) throw new StepError(`bpftrace ended with status ${status}: ${lines.slice(-2).join(" ")}`);
    }, seconds);
    return { ...account, ...readBpftrace(lines) };
  },
};

const alone = {
  name: "alone",
  run: (target, { seconds }) => target.attached(() => sleep(seconds * 1000), seconds),
};

/** Those that this machine has, and one sentence for each that is missing. */
export function contenders() {
  const help = capture(helper, ["record", "--help"]).stdout;
  const all = [
    alone,
    attachedPtlens("ptlens", []),
    { ...attachedPtlens("ptlens, function only", ["--callees", "none"]), skip: !help.includes("--callees") && "this ptlens has no --callees" },
    // As bpftrace does it, which ends a program that unwinds through the function.
    { ...attachedPtlens("ptlens, function only, return probes", ["--callees", "none", "--returns", "uretprobe"]), skip: !help.includes("--returns") && "this ptlens has no --returns" },
    { ...bpftrace, skip: !onPath("bpftrace") && "bpftrace is not installed" },
    { ...uftrace, skip: help.includes("uftrace") ? !onPath("uftrace") && "uftrace is not installed" : "this ptlens has no backend uftrace" },
  ];
  return { present: all.filter(({ skip }) => !skip), missing: all.filter(({ skip }) => skip).map(({ name, skip }) => `${name}: ${skip}`) };
}
