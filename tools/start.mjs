// npm start: sets up, builds, starts the order server, measures one of its functions on the best backend
// that this machine has, prints the report, and opens the editor on the source with the result showing.
// --report-only ends after the report.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { asRoot, at, helper, isMain, isRoot, main, onPath, root, run, sample, sampleSource, say, StepError } from "./steps.mjs";
import { installEditor, setUp } from "./setup.mjs";
import { buildBundles, buildNative } from "./build.mjs";

const measured = "handle_order";
const seconds = 3;
const recording = at("out/demo");
const simulator = at("helper/build/ptsim/ptsim");

const stops = []; // what to end before we end, last started first

async function stopAll() {
  while (stops.length > 0) await stops.pop()();
}

async function startServer() {
  const server = spawn(sample, ["--threads", "4"], { stdio: ["ignore", "ignore", "inherit"] });
  await once(server, "spawn");
  stops.push(() => {
    if (server.exitCode !== null || server.signalCode !== null) return undefined;
    server.kill();
    return once(server, "exit");
  });
  return server.pid;
}

// Without Intel PT, uftrace shows the whole tree of calls, of a server that it starts itself.
function worksWithUftrace() {
  const { stdout } = spawnSync(helper, ["doctor", "--json"], { encoding: "utf8" });
  try {
    const { backend, findings } = JSON.parse(stdout);
    return backend !== "intel_pt" && findings.some(({ id, state }) => id === "uftrace" && state === "fine");
  } catch {
    return false;
  }
}

// The ways to a recording, best first. Root is asked for one command and only where there is no other way.
function* ways(pid) {
  if (worksWithUftrace()) {
    yield {
      command: [
        helper, "record", "--backend", "uftrace", "--function", measured, "--duration", String(seconds), "-o", recording,
        "--", sample, "--threads", "4",
      ],
    };
  }
  const live = [helper, "record", "--pid", String(pid), "--function", measured, "--duration", String(seconds), "-o", recording];
  yield { command: live };
  const elevated = asRoot(live);
  if (!isRoot() && elevated) {
    yield {
      note: "Probes need root: asking sudo for this one command",
      command: elevated,
      then: () => run("sudo", ["chown", "-R", `${process.getuid()}:${process.getgid()}`, recording], { stdio: "inherit" }),
    };
  }
  yield {
    note: "Neither Intel PT nor probes work here: this demonstration single-steps the program, and its times are simulated",
    before: () => buildNative({ targets: ["ptsim"] }),
    command: [
      helper, "record", "--backend", "intel_pt", "--perf", simulator, "-o", recording,
      "--", sample, "--orders", "100", "--threads", "1", "--rate", "0",
    ],
  };
}

async function measure(pid) {
  const reasons = [];
  for (const { note, before, command, then } of ways(pid)) {
    if (reasons.length > 0) say(reasons.at(-1));
    if (note) say(note);
    await before?.();
    rmSync(recording, { recursive: true, force: true });
    const [program, ...args] = command;
    const result = spawnSync(program, args, { cwd: root, stdio: ["inherit", "ignore", "pipe"], encoding: "utf8" });
    if (result.status === 0) {
      then?.();
      return;
    }
    reasons.push((result.stderr ?? "").trim() || `${program} ${result.error?.message ?? `ended with status ${result.status}`}`);
  }
  throw new StepError(reasons.at(-1));
}

// Where the measured function begins in the source.
function measuredLine() {
  const lines = readFileSync(sampleSource, "utf8").split("\n");
  return lines.findIndex((text) => text.includes(` ${measured}(`) && text.endsWith("{")) + 1;
}

function openInCode() {
  const rootOnly = isRoot() ? ["--no-sandbox", `--user-data-dir=${at("out/code-user")}`] : [];
  const args = [...rootOnly, "--new-window", `--extensionDevelopmentPath=${root}`, at("extension/sample"), "--goto", `${sampleSource}:${measuredLine()}`];
  const result = spawnSync("code", args, { env: { ...process.env, PTLENS_OPEN_RECORDING: recording }, stdio: "inherit" });
  return result.status === 0;
}

async function openInBrowser() {
  const { startRig } = await import(at("test/editor/rig.mjs"));
  const rig = await startRig({
    folder: at("extension/sample"),
    file: sampleSource,
    line: measuredLine(),
    settings: { "editor.minimap.enabled": false },
    environment: { PTLENS_OPEN_RECORDING: recording },
  });
  stops.push(() => rig.stop());
  return rig.url;
}

async function start(reportOnly) {
  const hasCode = onPath("code") !== undefined;
  await setUp({ measure: true, node: !reportOnly });
  await buildNative({ targets: ["ptlens"] });
  let ended = false;
  const end = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.on(signal, () => {
        ended = true;
        resolve();
      });
    }
  });
  const pid = await startServer();
  say(`The order server runs as process ${pid}; measuring ${measured} for ${seconds} s`);
  await measure(pid);
  say("");
  run(helper, ["report", recording, "--function", measured]);
  await nextTurn(); // signals that came during the measurement arrive now
  if (reportOnly || ended) return;

  await buildBundles();
  if (hasCode && openInCode()) {
    say("\nVS Code shows the result. The order server runs until Ctrl-C.");
  } else {
    await installEditor();
    say(`\nThe editor shows the result at ${await openInBrowser()}\nIt and the order server run until Ctrl-C.`);
  }
  await end;
}

if (isMain(import.meta)) {
  await main(async () => {
    try {
      await start(process.argv.includes("--report-only"));
    } finally {
      await stopAll();
    }
  });
}
