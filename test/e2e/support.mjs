// What the end-to-end tests share: the built helper, run as a user would run it, and the means to check
// it against perf, the sample program's own counts and the kernel.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

// Nothing is left beside recordings that are not the tests' own; store.test.mjs does without this.
const cache = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-cache-"));
process.on("exit", () => rmSync(cache, { recursive: true, force: true }));
process.env.PTLENS_STORE = "cache";
process.env.XDG_CACHE_HOME = cache;

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const helper = process.env.PTLENS_HELPER ?? path.join(root, "helper/build/ptlens");
export const orderServer = path.join(root, "helper/build/samples/order_server");
export const simulator = process.env.PTSIM ?? path.join(root, "helper/build/ptsim/ptsim");
export const traces = path.resolve(root, "../shared/traces");

const timeout = 120_000;

export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 29, timeout, ...options });
  if (result.error) throw result.error;
  return result;
}

/** Options of `ptlens record` for tests that count calls: by default, probes measure in bursts where the machine is slow. */
export const probesWithoutBudget = ["--backend", "uprobe", "--budget", "100"];

export const ptlens = (args, options) => run(helper, args, options);

// Output of a command that must succeed.
export function output(program, args, options) {
  const { status, stdout, stderr } = run(program, args, options);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: status ${status}: ${stderr}`);
  return stdout;
}

export const json = (args) => JSON.parse(output(helper, args));
export const jsonLines = (text) => text.split("\n").filter(Boolean).map((line) => JSON.parse(line));

export function temporaryFolder(t) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const noTraces = existsSync(traces) ? false : `the folder of real recordings, ${traces}, is not here`;

const perf = () => spawnSync("perf", ["--version"]).status === 0;
export const noPerf = perf() ? false : "perf is not installed";

function whyNoProbes() {
  if (!perf()) return "perf is not installed";
  if (process.getuid() !== 0) return "setting probes needs root";
  try {
    accessSync("/sys/kernel/tracing/uprobe_events", constants.W_OK);
    return false;
  } catch {
    return "this kernel has no writable /sys/kernel/tracing/uprobe_events";
  }
}
export const noProbes = whyNoProbes();

// The functions of the order server by name, out of the rows of `ptlens functions --json`.
export const sampleFunction = (functions, name) =>
  functions.filter((row) => row.binary.endsWith("/order_server") && new RegExp(`^shop::${name}\\(`).test(row.name));

// What the order server must count, by arithmetic on its orders 1..n per thread.
export function expectedCounts(orders, threads) {
  const rejected = Math.floor(orders / 20);
  let levels = 0;
  for (let number = 1; number <= orders; number += 1) levels += number % 20 === 0 ? 0 : 1 + (number % 4);
  const accepted = orders - rejected;
  const each = {
    handle_order: orders, accept_order: orders, validate_order: orders, price_order: accepted,
    category_discount: levels, add_tax: accepted, reserve_stock: accepted,
    write_audit: Math.floor(orders / 100), rejected,
  };
  return Object.fromEntries(Object.entries(each).map(([name, count]) => [name, count * threads]));
}

// The lines "name count" that the order server prints when it has done its orders.
export const parseCounts = (text) =>
  Object.fromEntries(text.split("\n").map((line) => /^(\w+) (\d+)$/.exec(line)).filter(Boolean).map(([, name, count]) => [name, Number(count)]));

// A program in the background, ended with the test. `closed` resolves to { status, signal, stdout, stderr }.
export function background(t, program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], ...options });
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (part) => (text[name] += part));
  const closed = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) => resolve({ status, signal, ...text }));
  });
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await closed;
  });
  return { child, text, closed };
}

// The note with that code, of a recording's notes or of a manifest's.
export const noteOf = ({ notes }, code) => notes.find((note) => note.code === code);

export async function until(what, condition, limit = 60_000) {
  const end = Date.now() + limit;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`timed out after ${limit / 1000} s: ${what}`);
    await sleep(50);
  }
}

// Returns the probes that the helper with this process id has set and not removed.
export const probesOf = (pid) =>
  readFileSync("/sys/kernel/tracing/uprobe_events", "utf8").split("\n").filter((line) => line.includes(`:ptlens_${pid}_`));

// Returns the processes that a process has started, from any of its threads.
export function childrenOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((tid) =>
      readFileSync(`/proc/${pid}/task/${tid}/children`, "utf8").split(" ").filter(Boolean).map(Number));
  } catch {
    return [];
  }
}

// Waits until a helper records: with probes it then has perf.data open. With Intel PT its perf has opened its events and
// has executed the command "enable", which is in its pipe from the start. perf then sleeps in poll, system call 7 on x86-64.
export async function untilMeasuring(helperPid) {
  let calm = 0;
  await until("the helper measures", () => {
    try {
      const descriptors = `/proc/${helperPid}/fd`;
      if (readdirSync(descriptors).some((number) => readlinkSync(path.join(descriptors, number)).endsWith("/perf.data"))) return true;
    } catch {
      // A descriptor was closed meanwhile.
    }
    const asleep = childrenOf(helperPid).some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("perf") && readFileSync(`/proc/${pid}/syscall`, "utf8").startsWith("7 ");
      } catch {
        return false;
      }
    });
    calm = asleep ? calm + 1 : 0;
    return calm >= 20;
  });
}

export const isAlive = (pid) => existsSync(`/proc/${pid}`);

// Asks a server one request after the other. `notify` sends what has no answer.
export function rpc({ child, text }) {
  let last = 0;
  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const ask = async (method, params) => {
    const id = ++last;
    send({ id, method, params });
    for (;;) {
      for (const message of text.stdout.split(/Content-Length: \d+\r\n\r\n/)) {
        let parsed;
        try {
          parsed = JSON.parse(message);
        } catch {
          continue; // the rest of it is still to come
        }
        if (parsed.id === id && parsed.method === undefined) {
          assert.equal(parsed.error, undefined, JSON.stringify(parsed.error));
          return parsed.result;
        }
      }
      await new Promise((resolve) => child.stdout.once("data", resolve));
    }
  };
  return Object.assign(ask, { notify: (method, params) => send({ method, params }) });
}
