// The test subjects: the built helper and a running order server.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { projectRoot } from "./rig.mjs";

const at = (...parts) => path.join(projectRoot, ...parts);
export const sampleSource = at("extension", "sample", "order_server.cpp");

process.env.PTLENS_HELPER ??= at("helper", "build", "ptlens");
const helper = process.env.PTLENS_HELPER;
const sample = process.env.PTLENS_SAMPLE ?? at("helper", "build", "samples", "order_server");

export const buildReady = () =>
  [helper, sample, at("out", "extension.js"), at("out", "test-host", "index.js")].every((file) => existsSync(file));

export function build() {
  execFileSync(process.execPath, [at("tools", "build.mjs")], { stdio: "inherit" });
  execFileSync(process.execPath, [at("tools", "bundle.mjs"), "--tests"], { stdio: "inherit" });
}

/** Runs the helper and parses its JSON. */
export function ask(...args) {
  return JSON.parse(execFileSync(helper, [...args, "--json"], { encoding: "utf8", maxBuffer: 1 << 28 }));
}

export const helperCanMeasure = () => ask("doctor").backend !== "none";

/**
 * Two threads, 500 orders a second each, until stopped. Each 75th order waits 1 ms for stock, so that a flame graph has room for all callees,
 * or 2 ms where both threads take stock at once: less than the 5 ms of write_audit, but on a machine with much to do.
 */
export async function startSample() {
  const scratch = mkdtempSync(path.join(os.tmpdir(), "ptlens-sample-"));
  const child = spawn(sample, ["--threads", "2", "--rate", "500", "--slow-every", "75", "--stock-ms", "1"], { stdio: ["ignore", "ignore", "inherit"] });
  await once(child, "spawn");
  const stop = async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(scratch, { recursive: true, force: true });
  };
  return { pid: child.pid, scratch, stop };
}

export function measure({ pid, functionName, seconds, output }) {
  // Other programs run beside the tests.
  const budget = ask("doctor").backend === "uprobe" ? ["--budget", "100"] : [];
  const args = ["record", "--pid", String(pid), "--function", functionName, "--duration", String(seconds), ...budget, "-o", output];
  const { status, stderr } = spawnSync(helper, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${helper} ${args.join(" ")}: ${stderr.trim()}`);
}

/** The recording that was made last by a helper with this XDG_STATE_HOME. */
export function newestRecording(stateHome) {
  const folder = path.join(stateHome, "ptlens", "recordings");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const made = (name) => statSync(path.join(folder, name)).mtimeMs;
  const newest = names.sort((a, b) => made(b) - made(a))[0];
  if (newest === undefined) throw new Error(`There is no recording in ${folder}`);
  return path.join(folder, newest);
}

/** Process ids of the helpers that run with this HOME. */
export function helpersOf(home) {
  return readdirSync("/proc").filter((pid) => {
    try {
      const isHelper = readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(`${helper}\0serve`);
      return isHelper && readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${home}`);
    } catch {
      return false; // no process, or gone
    }
  });
}

/** Probes in the kernel that were set by the helpers with this HOME; none without tracefs. */
export function probesOf(home) {
  const prefixes = helpersOf(home).map((pid) => `ptlens_${pid}_`);
  try {
    const text = readFileSync("/sys/kernel/tracing/uprobe_events", "utf8");
    return text.split("\n").filter((line) => prefixes.some((prefix) => line.includes(`:${prefix}`)));
  } catch {
    return [];
  }
}
