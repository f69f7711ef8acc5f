// npm run bench -- stop: the time from Stop to the figures. A recording is made as the editor makes it, by requests to `ptlens
// serve`, with a stand-in for perf that writes a trace made up by `ptsim synth` while it "records". The same recording is
// opened once more afterwards, when nothing of it is in memory: that is the time without what was done while recording.
//
//   --mb N,N,...   sizes of the trace (4,16,64)     --seconds S    that the recording takes (1)
//   --runs N       the median counts (5)            --style NAME   of the code walked (branchy)
//
// PTLENS_HELPER=PATH measures another ptlens, which is not built.
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { buildNative } from "../build.mjs";
import { build, helper } from "../live/helper.mjs";
import { median, number, table } from "../live/text.mjs";
import { Client } from "../panel/client.mjs";
import { setUp } from "../setup.mjs";
import { at, capture, sample, say, StepError, wholeNumber } from "../steps.mjs";
import { walkedCode } from "../walked-code.mjs";

const target = 1000; // ms after Stop
const megabyte = 1 << 20;
const replayingPerf = at("test/e2e/replaying-perf.mjs");

function makeTrace(folder, megabytes, style) {
  const file = path.join(folder, `${megabytes}.data`);
  const made = capture(at("helper/build/ptsim/ptsim"), [
    "synth", "-o", file, "--seed", "1", "--bytes", String(megabytes * megabyte), "--style", style, "--cyc", "--threads", "2", "--cpus", "2",
    "--syscalls-every", "20", ...walkedCode(),
  ]);
  if (made.status !== 0) throw new StepError(`ptsim could not make the trace: ${made.stderr.trim().slice(0, 300)}`);
  return file;
}

async function started() {
  const client = new Client(helper);
  await client.ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  return client;
}

// Milliseconds from Stop to the answer that the functions' table shows, and of CPU time meanwhile.
async function recordOnce(trace, output, seconds) {
  process.env.PTLENS_REPLAY = trace;
  process.env.PTLENS_REPLAY_S = String(seconds);
  const client = await started();
  try {
    const recorded = client.ask("ptlens/record", { program: sample, backend: "intel_pt", perf: replayingPerf, output, workDoneToken: "r" });
    await sleep(seconds * 1000 + 500); // perf has started by then
    const [stopped, cpu] = [performance.now(), client.cpu()];
    await client.ask("ptlens/finish", { token: "r" });
    const { recording } = await recorded;
    await client.ask("ptlens/functions", { id: recording.id });
    return { wall: performance.now() - stopped, cpu: client.cpu() - cpu };
  } finally {
    client.end();
  }
}

async function openOnce(output) {
  const client = await started();
  try {
    const [begin, cpu] = [performance.now(), client.cpu()];
    const { recording } = await client.ask("ptlens/open", { path: output });
    await client.ask("ptlens/functions", { id: recording.id });
    return { wall: performance.now() - begin, cpu: client.cpu() - cpu };
  } finally {
    client.end();
  }
}

export async function benchStop(args) {
  const { values } = parseArgs({
    args,
    options: {
      mb: { type: "string", default: "4,16,64" },
      seconds: { type: "string", default: "1" },
      runs: { type: "string", default: "5" },
      style: { type: "string", default: "branchy" },
    },
  });
  const runs = wholeNumber("runs", values.runs, 100);
  const seconds = wholeNumber("seconds", values.seconds, 60);
  delete process.env.PTLENS_STORE; // the cache is beside the recording
  await setUp({});
  await build();
  await buildNative({ targets: ["ptsim"] });
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-stop-"));
  const rows = [];
  try {
    for (const size of values.mb.split(",")) {
      const trace = makeTrace(folder, wholeNumber("mb", size, 4096), values.style);
      const [stop, later] = [[], []];
      for (let run = 0; run < runs; run++) {
        const output = path.join(folder, `recording-${size}-${run}`);
        stop.push(await recordOnce(trace, output, seconds));
        rmSync(path.join(output, "perf.data.calls"), { force: true });
        later.push(await openOnce(output));
        rmSync(output, { recursive: true, force: true });
      }
      const middle = (taken, what) => median(taken.map((each) => each[what]));
      const after = middle(stop, "wall");
      rows.push([
        size, number(Number(size) / seconds, 1), number(after), number(Math.min(...stop.map(({ wall }) => wall))), number(middle(stop, "cpu")),
        number(middle(later, "wall")), number(middle(later, "cpu")), after <= target ? "met" : "missed",
      ]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  say(`${os.availableParallelism()} processors, load ${number(os.loadavg()[0], 1)}; ${runs} recordings of ${seconds} s each, ${values.style}; target ${target} ms\n`);
  say(table(["MB of trace", "MB/s", "Stop to figures, ms", "best", "CPU ms", "opened later, ms", "CPU ms", ""], rows));
}
