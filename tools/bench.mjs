// npm run bench: traces of several kinds, made by `ptsim synth`, decoded by ptlens, by perf and by libipt's own decoders in
// turn. Writes medians, ratios, memory, sizes and times of queries as tables to helper/bench/RESULTS.md.
//
//   --mb N        size of each trace (16)           --runs N    of each contender; the median counts (3)
//   --linear N    largest trace of the table of sizes, MB (64)  --only A,B  these kinds of trace alone
//   --perf PATH   another perf                      --dry       print only, write no RESULTS.md
//
// npm run bench -- live: what live measurement costs and whether its figures are true (tools/live/bench.mjs).
// npm run bench -- stop: the time from Stop to figures (tools/stop/bench.mjs).
// npm run bench -- panel: how long the panel's gestures take on 10 million calls (tools/panel/bench.mjs).
// npm run bench -- workers: how decoding would scale with up to 64 processors (tools/workers/bench.mjs).
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { at, capture, helper, isMain, main, onPath, say, StepError } from "./steps.mjs";
import { setUp } from "./setup.mjs";
import { buildNative } from "./build.mjs";
import { benchLive } from "./live/bench.mjs";
import { benchPanel } from "./panel/bench.mjs";
import { benchStop } from "./stop/bench.mjs";
import { benchWorkers } from "./workers/bench.mjs";
import { median, number as fixed, table } from "./live/text.mjs";
import { walkedCode } from "./walked-code.mjs";

const ptsim = at("helper/build/ptsim/ptsim");
const measure = at("helper/build/bench_run");
const libipt = at("helper/build/bench_libipt");
const results = at("helper/bench/RESULTS.md");
const notes = at("helper/bench/NOTES.md");
const megabyte = 1 << 20;
const perfFields = "-F-event,-period,+tid,+cpu,+time,+addr,-comm,+flags,-dso"; // as pt_perf asks for them

// Kinds of trace: what `ptsim synth` is asked for. Real servers make a system call in some hundreds of calls.
function kinds() {
  const server = walkedCode();
  const usual = ["--cyc", "--per-thread", "--syscalls-every", "20"];
  return [
    { name: "branchy", args: ["--style", "branchy", ...usual, ...server] },
    { name: "predictable", args: ["--style", "predictable", ...usual, ...server] },
    { name: "call-heavy", args: ["--style", "call-heavy", ...usual, ...server] },
    { name: "loop-heavy", args: ["--style", "loop-heavy", ...usual, ...server] },
    { name: "65,000 functions", args: ["--functions", "65000", ...usual, realpathSync(process.execPath), ...server.slice(1)] },
    { name: "without CYC", args: ["--style", "mixed", "--no-cyc", "--per-thread", "--syscalls-every", "20", ...server] },
    { name: "8 threads", args: ["--style", "mixed", "--cyc", "--threads", "8", "--cpus", "8", "--syscalls-every", "20", ...server] },
  ];
}

function makeTrace(folder, name, megabytes, args) {
  const file = path.join(folder, name.replace(/[^a-z0-9]+/gi, "-") + ".data");
  const made = capture(ptsim, ["synth", "-o", file, "--seed", "1", "--bytes", String(megabytes * megabyte), ...args]);
  if (made.status !== 0) throw new StepError(`ptsim could not make the trace "${name}": ${made.stderr.trim().slice(0, 300)}`);
  return file;
}

const storeOf = (recording) => recording + ".calls";

function once(command) {
  const ran = capture(measure, command);
  if (ran.status !== 0) throw new StepError(`${command[0]} cannot be measured: ${ran.stderr.trim().slice(0, 300)}`);
  const taken = JSON.parse(ran.stdout);
  if (taken.status !== 0) throw new StepError(`${command.join(" ").slice(0, 200)} ended with status ${taken.status}`);
  return taken;
}

// The programs that do the whole job on a recording. `before` clears the way for each run.
function contenders(recording, perf, canChooseWorkers) {
  const cold = () => rmSync(storeOf(recording), { force: true });
  const ptlens = [helper, "functions", recording, "--json"];
  const oneCore = canChooseWorkers ? [...ptlens, "--workers", "1"] : ptlens;
  return [
    { name: "ptlens, one core", command: ["taskset", "-c", "0", ...oneCore], before: cold },
    { name: "ptlens, all cores", command: ptlens, before: cold },
    { name: "perf script --itrace=cr", command: ["taskset", "-c", "0", perf, "script", "-i", recording, "--itrace=cr", "--ns", perfFields] },
    { name: "perf script --itrace=e", command: ["taskset", "-c", "0", perf, "script", "-i", recording, "--itrace=e"] },
    { name: "libipt, instructions", command: ["taskset", "-c", "0", libipt, "instruction", recording] },
    { name: "libipt, blocks", command: ["taskset", "-c", "0", libipt, "block", recording] },
  ];
}

// One run of each, then again: what disturbs the machine disturbs them all.
function interleaved(all, runs) {
  const taken = new Map(all.map(({ name }) => [name, []]));
  for (let round = 0; round < runs; round++) {
    for (const { name, command, before } of all) {
      before?.();
      taken.get(name).push(once(command));
    }
  }
  return new Map(
    [...taken].map(([name, list]) => [
      name,
      { wall: median(list.map((each) => each.wall)), cpu: median(list.map((each) => each.cpu)), peak: median(list.map((each) => each.peak)) },
    ]),
  );
}

const number = (value, digits = 1) => fixed(value, digits);
const ms = (seconds) => number(seconds * 1000, seconds < 0.1 ? 1 : 0);

// A function whose calls are many: who is asked about.
function questions(recording) {
  const { functions } = JSON.parse(capture(helper, ["functions", recording, "--json"]).stdout);
  const calls = (each) => each.complete + each.incomplete + each.unwound;
  const most = functions.reduce((one, other) => (calls(other) > calls(one) ? other : one));
  const total = functions.reduce((sum, each) => sum + calls(each), 0);
  const report = [helper, "report", recording, "--json", "--function", `${most.name}@${most.address}`, "--binary", most.binary];
  return { total, most: calls(most), functions: functions.length, commands: [
    { name: "functions", command: [helper, "functions", recording, "--json"] },
    { name: "report", command: report },
    { name: "flame", command: [helper, "flame", recording, "--format", "json"] },
  ] };
}

function benchKind(folder, kind, settings) {
  say(`${kind.name}: making ${settings.mb} MB of trace`);
  const recording = makeTrace(folder, kind.name, settings.mb, kind.args);
  const taken = interleaved(contenders(recording, settings.perf, settings.canChooseWorkers), settings.runs);
  const ours = taken.get("ptlens, one core").wall;
  const rows = [...taken].map(([name, { wall, cpu, peak }]) => [
    name, number(wall, 2), number(cpu, 2), number(settings.mb / wall), name.startsWith("ptlens") ? "" : `${number(wall / ours)} ×`, number(peak / megabyte, 0),
  ]);
  rows[1][4] = `${number(ours / taken.get("ptlens, all cores").wall, 2)} × one core`;
  const decoding = table(["", "s", "CPU s", "MB/s", "ptlens, one core, is faster by", "peak MB"], rows);

  const asked = questions(recording);
  const store = statSync(storeOf(recording)).size;
  asked.commands.forEach(({ command }) => once(command)); // what is found out once is kept
  const answers = interleaved(asked.commands, settings.runs);
  const warm = table(
    ["calls", "functions", "store, bytes a call", "functions, CPU ms", "report, CPU ms", "of calls", "flame, CPU ms"],
    [[number(asked.total, 0), number(asked.functions, 0), number(store / asked.total), ms(answers.get("functions").cpu), ms(answers.get("report").cpu),
      number(asked.most, 0), ms(answers.get("flame").cpu)]],
  );
  rmSync(recording, { force: true });
  rmSync(storeOf(recording), { force: true });
  const text = `### ${kind.name}\n\n\`ptsim synth ${kind.args.map((each) => path.basename(each)).join(" ")}\`\n\n${decoding}\n\nFrom a store that is there, the whole command:\n\n${warm}\n`;
  say("\n" + text);
  return text;
}

function linearity(folder, settings) {
  const rows = [];
  for (let mb = 1; mb <= settings.linear; mb *= 4) {
    const recording = makeTrace(folder, `linear-${mb}`, mb, kinds()[2].args);
    const ptlens = contenders(recording, settings.perf, settings.canChooseWorkers).slice(0, 2);
    const taken = interleaved(ptlens, settings.runs);
    const one = taken.get("ptlens, one core");
    const all = taken.get("ptlens, all cores");
    rows.push([String(mb), number(one.wall, 2), number(mb / one.wall), number(one.peak / megabyte, 0), number(all.wall, 2), number(mb / all.wall)]);
    rmSync(recording, { force: true });
    rmSync(storeOf(recording), { force: true });
  }
  const text = `### Sizes\n\nCall-heavy traces, ptlens alone.\n\n${table(["MB", "one core, s", "MB/s", "peak MB", "all cores, s", "MB/s"], rows)}\n`;
  say("\n" + text);
  return text;
}

function machine(settings, load) {
  const cpu = os.cpus();
  const version = (program, ...args) => capture(program, args).stdout.trim().split("\n")[0];
  const revision = version("git", "rev-parse", "--short", "HEAD");
  return [
    `- ${new Date().toISOString().slice(0, 10)}, ptlens ${version(helper, "--version")}${revision ? `, commit ${revision}` : ""}`,
    `- ${cpu[0]?.model.trim()}, ${os.availableParallelism()} processors, ${number(os.totalmem() / 2 ** 30, 0)} GB, Linux ${os.release()}`,
    `- ${version(settings.perf, "--version")}, libipt ${version("dpkg-query", "-W", "-f=${Version}", "libipt2") || "of unknown version"}, node ${process.version}`,
    `- load of the machine (1 minute): ${load.map((each) => number(each, 2)).join(" before, ")} after${load.some((each) => each > 1.5) ? " — it was not idle: ratios say more than times" : ""}`,
    `- traces of ${settings.mb} MB made by \`ptsim synth\`; medians of ${settings.runs} runs, contenders in turn; one core by \`taskset\``,
  ].join("\n");
}

async function bench() {
  const { values } = parseArgs({
    options: {
      mb: { type: "string", default: "16" },
      runs: { type: "string", default: "3" },
      linear: { type: "string", default: "64" },
      only: { type: "string" },
      perf: { type: "string" },
      dry: { type: "boolean", default: false },
    },
  });
  const whole = (name, most) => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < 1 || value > most) throw new StepError(`--${name} ${values[name]}: give a whole number from 1 to ${most}`);
    return value;
  };
  const settings = { mb: whole("mb", 1024), runs: whole("runs", 99), linear: whole("linear", 1024), perf: values.perf ?? onPath("perf") };
  const wanted = values.only?.split(",");
  const chosen = kinds().filter(({ name }) => !wanted || wanted.some((each) => name.includes(each)));
  if (chosen.length === 0) throw new StepError(`--only ${values.only}: there are ${kinds().map(({ name }) => name).join(", ")}`);
  delete process.env.PTLENS_STORE; // stores lie beside the recordings
  await setUp({ bench: true });
  await buildNative({ targets: ["ptlens", "ptsim", "bench_libipt", "bench_run"] });
  if (!settings.perf) throw new StepError("there is no perf to compare with: install linux-perf, or give --perf PATH");
  settings.canChooseWorkers = capture(helper, ["functions", "--help"]).stdout.includes("--workers");
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-bench-"));
  try {
    const before = os.loadavg()[0];
    const parts = chosen.map((kind) => benchKind(folder, kind, settings));
    parts.push(linearity(folder, settings));
    const text = [
      "# Decoding, compared\n",
      "Made by `npm run bench`; do not edit: notes go into `NOTES.md`. The whole job of ptlens is `ptlens functions --json` on a recording that was never",
      "opened: every call rebuilt, stored and summed up. The debug information of the libraries is kept from the first run. perf prints its calls to `/dev/null` with the fields that pt_perf asks for, or only its errors;",
      "libipt's decoders run alone, the block decoder with ends at calls and the time of each block, and make nothing of what they find.\n",
      machine(settings, [before, os.loadavg()[0]]) + "\n",
      ...parts,
      readFileSync(notes, "utf8"),
    ].join("\n");
    if (values.dry) return;
    writeFileSync(results, text);
    say(`Written: ${results}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const others = { live: benchLive, panel: benchPanel, stop: benchStop, workers: benchWorkers };

if (isMain(import.meta)) {
  const other = others[process.argv[2]];
  await main(() => (other ? other(process.argv.slice(3)) : bench()));
}
