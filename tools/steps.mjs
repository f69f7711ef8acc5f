// What the commands share: paths, child processes and plain messages. Node's own modules only, because
// this runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
export const at = (...parts) => path.join(root, ...parts);
export const helper = at("helper/build/ptlens");
export const sample = at("helper/build/samples/order_server");
export const sampleSource = at("extension/sample/order_server.cpp");

// A failure that the user can understand from its message alone.
export class StepError extends Error {}

export const say = (text) => console.log(text);

// Runs a program and waits; its output goes to ours. Throws StepError when it fails.
export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"], ...options });
  if (result.error) throw new StepError(`${program} cannot be run: ${result.error.message}`);
  if (result.status !== 0) throw failure(program, args, result.status, result.signal);
}

function failure(program, args, status, signal) {
  const how = signal ? `was ended by ${signal}` : `ended with status ${status}`;
  return new StepError(`${path.basename(program)} ${how}: ${[program, ...args].join(" ").slice(0, 200)}`);
}

// Runs a program beside this one. Resolves when it has ended well; rejects with a StepError when it has not.
export function runBeside(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"], ...options });
    child.on("error", (error) => reject(new StepError(`${program} cannot be run: ${error.message}`)));
    child.on("close", (status, signal) => {
      if (status === 0) resolve();
      else reject(failure(program, args, status, signal));
    });
  });
}

// Waits until all of the work has ended, then throws the first failure, so that nothing goes on after an error.
export async function together(...work) {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}

// Runs a program quietly. Never throws; a program that cannot be run has status -1.
export function capture(program, args, options = {}) {
  const result = spawnSync(program, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, ...options });
  return { status: result.status ?? -1, stdout: result.stdout ?? "", stderr: result.stderr ?? "" };
}

// Runs a program, hands each line of its output on as it appears, and resolves to its exit status. After `limit` seconds the
// program and all that it has started are listed and ended. What it leaves behind with its output open is not waited for.
export function runLines(program, args, onLine, { limit, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], ...options });
    const streams = [child.stdout, child.stderr];
    for (const stream of streams) {
      let rest = "";
      stream.setEncoding("utf8");
      stream.on("data", (text) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        lines.forEach(onLine);
      });
      stream.on("end", () => {
        if (rest !== "") onLine(rest);
      });
    }
    const timer =
      limit === undefined
        ? undefined
        : setTimeout(() => {
            onLine(`${path.basename(program)} has run for ${limit} s and is ended. Its processes:`);
            endTree(child.pid, onLine);
          }, limit * 1000);
    child.on("error", (error) => reject(new StepError(`${program} cannot be run: ${error.message}`)));
    child.on("exit", () => {
      clearTimeout(timer);
      setTimeout(() => streams.forEach((stream) => stream.destroy()), outputPatience).unref();
    });
    child.on("close", (status) => resolve(status ?? 1));
  });
}

const outputPatience = 10_000; // ms from a program's end to the end of its output

// Lists a process and all that it has started, and ends them: with SIGTERM, and with SIGKILL ten seconds later.
function endTree(pid, onLine) {
  const processes = capture("ps", ["-e", "-ww", "-o", "pid=,ppid=,stat=,etime=,time=,wchan:24=,args="]).stdout.split("\n").filter(Boolean);
  const parents = new Map(processes.map((line) => line.trim().split(/\s+/)).map(([own, parent]) => [Number(own), Number(parent)]));
  const isOurs = (each) => each === pid || (parents.has(each) && isOurs(parents.get(each)));
  const ours = [pid, ...[...parents.keys()].filter((each) => each !== pid && isOurs(each))];
  for (const line of processes.filter((each) => ours.includes(Number.parseInt(each, 10)))) onLine(line);
  const signal = (name) => {
    for (const each of ours) {
      try {
        process.kill(each, name);
      } catch {
        continue; // it has ended
      }
    }
  };
  signal("SIGTERM");
  setTimeout(() => signal("SIGKILL"), 10_000);
}

// Full path of a program on PATH, undefined where there is none.
export function onPath(name) {
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const candidate = path.join(folder, name);
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      continue;
    }
  }
  return undefined;
}

// Returns the value of an option.
export function wholeNumber(name, text, most) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most) throw new StepError(`--${name} ${text}: give a whole number from 1 to ${most}`);
  return value;
}

// CPU time in seconds of a process and its ended threads, and of its ended child processes and theirs: proc_pid_stat(5),
// utime and stime, cutime and cstime.
export function cpuTimes(pid) {
  const ticksPerSecond = 100; // USER_HZ, which is the same on all x86-64 Linux systems
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const ticks = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
  return { own: (ticks[11] + ticks[12]) / ticksPerSecond, children: (ticks[13] + ticks[14]) / ticksPerSecond };
}

export const isRoot = () => process.getuid?.() === 0;

// Arguments that run a command as root: as it is for root, else through sudo; undefined without either.
export function asRoot(args) {
  if (isRoot()) return args;
  return onPath("sudo") ? ["sudo", ...args] : undefined;
}

export const isMain = (meta) => process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(meta.url);

// Runs the work of a command; a failure becomes one line on stderr and exit status 1.
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof StepError ? error.message : error);
    process.exitCode = 1;
  }
}
