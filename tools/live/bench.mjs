// npm run bench -- live: what live measurement costs the program that is measured, and whether its figures are true. Programs
// that know their own figures run alone and measured, in turn, and the medians are printed beside the targets.
//
//   --rounds N     of each program with each tool (3)   --seconds S   of each measurement (3)
//   --runs N       of each spin (20)                    --only A,B    programs whose names contain that; "spins" too
//
// PTLENS_HELPER=PATH measures with another ptlens, which is not built.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { rateBetween } from "../../test/samples/live/samples.mjs";
import { setUp } from "../setup.mjs";
import { isRoot, say, StepError, wholeNumber } from "../steps.mjs";
import { contenders } from "./contenders.mjs";
import { build } from "./helper.mjs";
import { workloads } from "./programs.mjs";
import { benchSpins } from "./spins.mjs";
import { median, number, table } from "./text.mjs";

/** Calls per second while the program was measured. The order server has no timeline: what its life was more than alone counts. */
function rateOf({ counted, seconds, from, to, timeline }, rateAlone) {
  if (from === undefined) return counted / seconds; // started by what measures it
  if (timeline) return rateBetween(timeline, from, to);
  const measured = Math.min((to - from) / 1e9, seconds);
  return rateAlone === undefined ? counted / seconds : (counted - rateAlone * (seconds - measured)) / measured;
}

/** "met", or by how much the target is missed. `slower` is the share of throughput that is gone. */
function verdict(name, slower, slowerBpftrace, workload) {
  const judged = (limit, text) => (slower <= limit ? "met" : `missed: ${text}`);
  if (name === "ptlens") return judged(0.05, "at most 5 % slower");
  if (name.startsWith("ptlens, function only") && slowerBpftrace !== undefined) return judged(Math.max(0.01, 1.2 * slowerBpftrace), "at most 1.2 × what bpftrace costs");
  if (name === "ptlens, uftrace" && workload.includes("100,000")) return judged(0.1, "at most 10 % slower");
  return "";
}

const isAboutTheBudget = ({ code }) => /budget|callees|burst|patch|filtered/.test(code);

function resultTable(workload, tools, taken) {
  const rateAlone = median(taken.get("alone").map((each) => rateOf(each)));
  const slower = (name) => {
    const list = taken.get(name);
    return list && list.length > 0 ? 1 - median(list.map((each) => rateOf(each, rateAlone))) / rateAlone : undefined;
  };
  const rows = tools.map(({ name }) => {
    const list = taken.get(name);
    if (list.length === 0) return [name, ...Array(13).fill(""), "failed"];
    const of = (value) => median(list.map(value));
    const rate = of((each) => rateOf(each, rateAlone));
    const window = ({ from, to, seconds }) => (from === undefined ? seconds : (to - from) / 1e9);
    return [
      name, number(rate), `${number((100 * rate) / rateAlone, 1)} %`, number(of((each) => rateOf(each, rateAlone) * window(each))), number(of(({ seen }) => seen)),
      number(of(({ estimated }) => estimated)), number(of(({ lost }) => lost)), number(of(({ truth }) => truth?.mean)), number(of(({ shown }) => shown?.mean)), number(of(({ truth }) => truth?.p99)), number(of(({ shown }) => shown?.p99)),
      number(of(({ shown }) => shown?.uncertainty?.mean)), number(of(({ took }) => took), 1), number(of(({ slowdown }) => slowdown), 2), verdict(name, slower(name), slower("bpftrace, entry and return"), workload.name),
    ];
  });
  const head = ["", "calls/s", "of alone", "calls meanwhile", "seen", "estimated", "lost", "its own mean", "mean", "its own p99", "p99", "±", "took, s", "slower by, it says", "target"];
  const notes = taken.get("ptlens").at(-1)?.notes?.filter(isAboutTheBudget).map(({ text }) => `- ${text}`) ?? [];
  return `### ${workload.name}: \`${workload.measured}\`\n\n${table(head, rows)}\n${notes.length > 0 ? `\n${notes.join("\n")}\n` : ""}`;
}

/** One run of each, then again: what disturbs the machine disturbs them all. */
async function benchWorkload(folder, workload, tools, { rounds, seconds }) {
  const target = workload.make(folder);
  const taken = new Map(tools.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const tool of tools) {
      say(`${workload.name}, ${tool.name}: round ${round} of ${rounds}`);
      try {
        taken.get(tool.name).push(await tool.run(target, { folder, measured: workload.measured, seconds }));
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        say(`${workload.name}, ${tool.name}: ${error.message}`);
      }
    }
  }
  if (taken.get("alone").length === 0) throw new StepError(`${workload.name} does not run`);
  return resultTable(workload, tools, taken);
}

/** What one hit and one record of a wait take from the thread, as ptlens measured them on this machine since it started. */
function costs() {
  const cache = process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), ".cache");
  let known;
  try {
    known = JSON.parse(readFileSync(path.join(cache, "ptlens/probe-cost.json"), "utf8"));
  } catch {
    return "What a hit costs is not known here.";
  }
  const { emulated, stepped, returned, wait_ns: wait } = known;
  const hits = [["emulated", emulated], ["stepped over", stepped], ["by a return probe", returned]].map(([name, cost]) => `${name} ${number(cost.frequent_ns)}`);
  return `One hit takes, in ns: ${hits.join(", ")}. Each switch of a thread whose waits are recorded, and each wake-up: ${number(wait)}.`;
}

function settingsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "3" },
      runs: { type: "string", default: "20" },
      only: { type: "string" },
    },
  });
  const whole = (name, most) => wholeNumber(name, values[name], most);
  const wanted = values.only?.split(",");
  return { rounds: whole("rounds", 99), seconds: whole("seconds", 600), runs: whole("runs", 999), wants: (name) => !wanted || wanted.some((each) => name.includes(each)) };
}

export async function benchLive(args) {
  const settings = settingsOf(args);
  if (!isRoot()) throw new StepError("setting probes needs root: run this bench as root");
  await setUp({ liveBench: true, measure: true });
  await build();
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-bench-"));
  const { present, missing } = contenders();
  missing.forEach((line) => say(`left out: ${line}`));
  const parts = [];
  try {
    for (const workload of workloads.filter(({ name }) => settings.wants(name))) {
      if (workload.skip) say(`left out: ${workload.name}: ${workload.skip}`);
      else parts.push(await benchWorkload(folder, workload, present, settings));
    }
    if (settings.wants("spins")) parts.push(benchSpins(folder, settings.runs));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (parts.length === 0) throw new StepError(`--only: there are ${[...workloads.map(({ name }) => name), "spins"].join("; ")}`);
  say(`\nMedians of ${settings.rounds} rounds of ${settings.seconds} s; latencies in ns; load of the machine at the end: ${number(os.loadavg()[0], 1)} on ${os.availableParallelism()} processors.\n`);
  say(`${costs()}\n`);
  parts.forEach((part) => say(part));
}
