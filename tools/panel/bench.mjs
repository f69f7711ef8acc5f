// npm run bench -- panel: how long the panel's gestures take on a recording of 10 million calls whose calls are cached. Each
// gesture is the JSON-RPC request that the panel sends for it, about the function with the most calls. Then the panel itself,
// in a browser, on another recording: the first drawing of a flame graph of a million stacks, and zooming into it.
//
//   --calls N      of the recording (10,000,000)    --runs N       of each request (10)
//   --functions N  use at most so many functions, so that one of them has millions of calls
//   --drawn N      calls of the recording that is drawn (9,000,000; 0: none)
//
// PTLENS_HELPER=PATH measures another ptlens, which is not built.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildNative } from "../build.mjs";
import { build, helper } from "../live/helper.mjs";
import { median, number, table } from "../live/text.mjs";
import { setUp } from "../setup.mjs";
import { at, capture, run, runLines, say, StepError, wholeNumber } from "../steps.mjs";
import { walkedCode } from "../walked-code.mjs";
import { Client } from "./client.mjs";

const target = 200; // ms after a gesture
const drawingTarget = 1000; // ms until a flame graph is drawn for the first time
const smallestFrame = 0.002; // as webview/state/figures.ts has it
const zoomedFrames = 3;

function makeRecording(folder, { calls, functions, style }, code) {
  const file = path.join(folder, "perf.data");
  const few = functions ? ["--functions", String(functions)] : [];
  const made = capture(at("helper/build/ptsim/ptsim"), [
    "synth", "-o", file, "--seed", "1", "--calls", String(calls), "--bytes", "1gb", "--style", style, "--cyc", "--per-thread",
    "--syscalls-every", "20", ...few, ...code,
  ]);
  if (made.status !== 0) throw new StepError(`ptsim could not make the recording: ${made.stderr.trim().slice(0, 300)}`);
  return file;
}

const callsOf = ({ complete, incomplete, unwound }) => complete + incomplete + unwound;

// The functions of the widest frame, its widest callee, and so on: what a user who zooms in focuses.
function widestPath({ functions, nodes }, length) {
  const path = [];
  for (let node = 0; path.length < length; ) {
    const callees = nodes.parent.flatMap((parent, callee) => (parent === node ? [callee] : []));
    if (callees.length === 0) break;
    node = callees.reduce((one, other) => (nodes.inclusive[other] > nodes.inclusive[one] ? other : one));
    path.push(functions[nodes.function[node]]);
  }
  return path;
}

// The requests, each with the gesture that sends it. The brush selects the slowest tenth.
async function questions(client, id) {
  const { functions } = await client.ask("ptlens/functions", { id });
  const most = functions.reduce((one, other) => (callsOf(other) > callsOf(one) ? other : one));
  const fn = { name: most.name, binary: most.binary, address: most.address };
  const of = { id, function: fn };
  const { latency } = await client.ask("ptlens/report", of);
  const slow = { latency: [latency.p90, null] };
  const slowest = await client.ask("ptlens/calls", { ...of, order: "latency", descending: true, limit: 1 });
  const drawn = { time_kind: "wall", smallest: smallestFrame };
  const focus = widestPath(await client.ask("ptlens/flame", { ...of, ...drawn }), zoomedFrames);
  return {
    name: most.name,
    calls: callsOf(most),
    total: functions.reduce((sum, each) => sum + callsOf(each), 0),
    gestures: [
      ["table of all functions", "ptlens/functions", { id }],
      ["header, callers, callees, threads", "ptlens/report", of],
      ["histogram and scatter", "ptlens/distribution", of],
      ["histogram alone", "ptlens/distribution", { ...of, columns: 1, points: 0 }],
      ["brush by latency: histogram and scatter", "ptlens/distribution", { ...of, selection: slow }],
      ["brush by latency: tables", "ptlens/report", { ...of, selection: slow }],
      ["why slow", "ptlens/explain", of],
      ["brush by latency: why slow", "ptlens/explain", { ...of, selection: slow }],
      ["calls, slowest first", "ptlens/calls", { ...of, order: "latency", descending: true, limit: 100 }],
      ["flame graph of the function", "ptlens/flame", { ...of, ...drawn }],
      ["flame graph: zoom", "ptlens/flame", { ...of, ...drawn, focus }],
      ["brush by latency: flame graph", "ptlens/flame", { ...of, ...drawn, selection: slow }],
      ["flame graph of all functions", "ptlens/flame", { id, ...drawn }],
      ["timeline of the slowest call", "ptlens/timeline", { ...of, tid: slowest.columns.tid[0], start: slowest.columns.start[0], parting: false }],
    ],
  };
}

// A helper that has opened the recording, whose calls are then cached.
async function opened(recording) {
  const client = new Client(helper);
  await client.ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  const { id } = (await client.ask("ptlens/open", { path: recording })).recording;
  return { client, id };
}

async function benchRequests(recording, runs) {
  const { client, id } = await opened(recording);
  try {
    const { name, calls, total, gestures } = await questions(client, id);
    const rows = [];
    for (const [gesture, method, params] of gestures) {
      await client.ask(method, params); // what is found out once is kept
      const { cpu, wall } = await client.timed(method, params, runs);
      rows.push([gesture, `\`${method}\``, number(cpu, 1), number(wall, 1), number(wall / target, 2), wall <= target ? "met" : "missed"]);
    }
    const bytes = statSync(`${recording}.calls`).size;
    say(`### ${number(total)} calls, ${number(calls)} of them of \`${name}\`; cache of ${number(bytes / total, 2)} bytes a call\n`);
    say(`${os.availableParallelism()} processors, load ${number(os.loadavg()[0], 1)}; each request ${runs} times, target ${target} ms\n`);
    say(table(["gesture", "request", "CPU ms", "ms", "of the target", ""], rows));
  } finally {
    client.end();
  }
}

// The panel's answers are pruned, so that the command line counts the stacks.
async function stacksOf(recording) {
  let stacks = 0;
  const status = await runLines(helper, ["flame", "--format", "folded", recording], () => { stacks++; });
  if (status !== 0) throw new StepError(`ptlens flame ended with status ${status}`);
  return stacks;
}

const totalOf = (traces, what) => traces.reduce((sum, trace) => sum + trace[what], 0);

function sayDrawing(title, { opening, flame, frames, zooms, traces, empty }) {
  const compared = (what) => {
    const [here, anyway] = [totalOf(traces, what), totalOf(empty, what)];
    return [number(here), `${number(anyway)}, as in an empty page`, here <= anyway ? "met" : "missed"];
  };
  say(`\n### ${title}\n`);
  say(table(["", "", "target", ""], [
    ["frames drawn", number(frames), "", ""],
    ["first flame graph, from asking for it until it is drawn, ms", number(flame), number(drawingTarget), flame <= drawingTarget ? "met" : "missed"],
    ["the same from opening the panel, with the table of all functions, ms", number(opening), "", ""],
    ["zooms in, and as many out", number(zooms), "", ""],
    ["frames shown meanwhile", number(totalOf(traces, "shown")), "", ""],
    ["frames dropped meanwhile", ...compared("dropped")],
    ["of these, frames that began after the key or the answer", ...compared("slow")],
    ["longest task of the page meanwhile, ms: median of the rounds", number(median(traces.map(({ longest }) => longest)), 1), "", ""],
  ]));
}

async function benchDrawing(recording) {
  const { drawing, fullGraph } = await import("./page.mjs"); // needs the browser's library, which set-up installs
  (await opened(recording)).client.end(); // caches the calls
  const { client, id } = await opened(recording);
  const ask = (method, params) => client.ask(method, { ...params, id });
  try {
    sayDrawing(`The panel in a browser: ${number(await stacksOf(recording))} stacks`, await drawing(ask));
    const known = await ask("ptlens/functions", {});
    known.functions = known.functions.slice(0, 1000);
    const answer = (method, params) => (method === "ptlens/flame" ? fullGraph(known, params) : known);
    sayDrawing("A flame graph that fills the window", await drawing(async (method, params) => answer(method, params)));
  } finally {
    client.end();
  }
}

export async function benchPanel(args) {
  const { values } = parseArgs({
    args,
    options: {
      calls: { type: "string", default: "10000000" },
      runs: { type: "string", default: "10" },
      functions: { type: "string" },
      drawn: { type: "string", default: "9000000" },
    },
  });
  const whole = (name, most) => wholeNumber(name, values[name], most);
  const runs = whole("runs", 1000);
  const settings = { calls: whole("calls", 100_000_000), functions: values.functions === undefined ? undefined : whole("functions", 100_000), style: "branchy" };
  const drawn = values.drawn === "0" ? 0 : whole("drawn", 100_000_000);
  delete process.env.PTLENS_STORE; // the cache lies beside the recording
  await setUp({ editor: drawn > 0 });
  if (drawn > 0) {
    run(process.execPath, [at("test/editor/install.mjs")]);
    run(process.execPath, [at("tools/bundle.mjs")]);
  }
  await build();
  await buildNative({ targets: ["ptsim"] });
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-panel-"));
  try {
    await benchRequests(makeRecording(folder, settings, walkedCode()), runs);
    if (drawn > 0) {
      // Many functions in one large binary: the deeper stacks are nearly all different.
      const recording = makeRecording(folder, { calls: drawn, functions: 65_000, style: "mixed" }, [process.execPath]);
      await benchDrawing(recording);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
