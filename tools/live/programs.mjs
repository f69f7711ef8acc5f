// The programs that `npm run bench -- live` measures, each with the function to measure and how it is run: attached to while
// it works, or started. A run resolves to { counted, seconds, from, to, timeline?, truth? }: how often the program called the
// function in its life, and when, in ns of CLOCK_MONOTONIC, something measured it.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compile, noSqlite, readTruth } from "../../test/samples/live/samples.mjs";
import { capture, sample as orderServer, StepError } from "../steps.mjs";

const now = () => Number(process.hrtime.bigint()); // libuv reads CLOCK_MONOTONIC

/** Starts a program. `ended` resolves to its output; it rejects where the program failed. */
function start(program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const text = { stdout: "" };
  child.stdout.setEncoding("utf8").on("data", (part) => (text.stdout += part));
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) => {
      if (status === 0) resolve(text.stdout);
      else reject(new StepError(`${path.basename(program)} ended with ${signal ?? `status ${status}`}`));
    });
  });
  ended.catch(() => {}); // whoever waits gets the error
  return { child, text, ended };
}

async function untilRunning({ text, ended }) {
  let over = false;
  ended.finally(() => (over = true)).catch(() => {});
  while (!text.stdout.includes("\n") && !over) await sleep(10);
  await sleep(300);
}

/** A sample of test/samples/live, which keeps account of its own calls. */
function liveSample(folder, name, args, measuredFunction) {
  const program = compile(name, folder);
  const file = path.join(folder, `${name}.truth`);
  const counted = () => {
    const truth = readTruth(file);
    rmSync(file);
    return { counted: truth.functions[measuredFunction].calls, seconds: truth.seconds, timeline: truth, truth: truth.functions[measuredFunction] };
  };
  return {
    program,
    command: (seconds) => [program, "--truth", file, "--seconds", String(seconds), ...args],
    counted,
    async attached(measure) {
      const running = start(program, ["--truth", file, ...args]);
      try {
        await untilRunning(running);
        const from = now();
        await measure(running.child.pid);
        const to = now();
        running.child.kill("SIGTERM");
        await running.ended;
        return { ...counted(), from, to };
      } finally {
        running.child.kill("SIGKILL");
      }
    },
  };
}

/** The order server, which counts its calls, but neither times them nor notes when they were. */
function server(args, measuredFunction) {
  const life = (stdout, seconds) => ({ counted: Number(new RegExp(`^${measuredFunction} (\\d+)$`, "m").exec(stdout)?.[1]), seconds });
  return {
    program: orderServer,
    command: (seconds) => [orderServer, "--seconds", String(Math.ceil(seconds)), ...args],
    counted: (stdout, seconds) => life(stdout, Math.ceil(seconds)),
    async attached(measure, seconds) {
      const lives = Math.ceil(seconds) + 2;
      const running = start(orderServer, ["--seconds", String(lives), ...args]);
      try {
        await untilRunning(running);
        const from = now();
        await measure(running.child.pid);
        const to = now();
        return { ...life(await running.ended, lives), from, to };
      } finally {
        running.child.kill("SIGKILL");
      }
    },
  };
}

/** The name in the symbol table of a function that C++ may have mangled. */
export function symbolOf(program, name) {
  const rows = capture("nm", ["--defined-only", program]).stdout.split("\n").map((line) => line.split(" ").at(-1));
  return rows.find((symbol) => symbol === name || new RegExp(`^_Z(?:N\\w*?)?${name.length}${name}(?![a-z])`).test(symbol)) ?? name;
}

/** Each program: { name, measured (the function), skip?, make }. */
export const workloads = [
  { name: "order server, 8,000 orders/s", measured: "price_order", make: () => server(["--threads", "4", "--rate", "2000"], "price_order") },
  { name: "order server, full speed", measured: "price_order", make: () => server(["--threads", "2", "--rate", "0"], "price_order") },
  { name: "loop, 100,000 calls/s", measured: "hash_key", make: (folder) => liveSample(folder, "loop", ["--rate", "100000"], "hash_key") },
  { name: "loop, full speed", measured: "hash_key", make: (folder) => liveSample(folder, "loop", ["--rate", "0"], "hash_key") },
  { name: "SQLite, 4 threads", measured: "run_query", skip: noSqlite, make: (folder) => liveSample(folder, "queries", ["--threads", "4"], "run_query") },
  { name: "16 threads and their mutexes", measured: "look_up", make: (folder) => liveSample(folder, "pages", ["--threads", "16"], "look_up") },
];
