// A trace of user code and of a made-up kernel: system calls and interrupts enter it, and the truth of
// every call is known. With the kernel's code at hand its functions are calls; without, their time is
// outside user code, and nothing else changes.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { helper, json, jsonLines, noPerf, noteOf, orderServer, output, ptlens, sampleFunction, simulator } from "./support.mjs";

const libc = ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"].find(existsSync);

function whyNot() {
  if (noPerf) return noPerf;
  if (!existsSync(simulator)) return `${simulator} is not built`;
  return libc === undefined ? "libc.so.6 is not where Debian has it" : false;
}

const isKernels = ({ binary }) => binary.startsWith("[kernel");

describe("a traced kernel", { skip: whyNot() }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const recording = path.join(folder, "recording"); // as perf record --kcore leaves it
  const bare = path.join(folder, "bare.data"); // the same trace alone
  const code = path.join(recording, "kcore_dir");
  let truth;

  before(() => {
    mkdirSync(recording);
    const truthFile = path.join(folder, "truth");
    output(simulator, ["synth", "-o", bare, "--truth", truthFile, "--seed", "3", "--calls", "20000", "--cyc", "--interrupts", "20", "--kernel", code, orderServer, libc]);
    output("cp", [bare, path.join(recording, "data")]);
    truth = jsonLines(readFileSync(truthFile, "utf8")).filter((row) => row.binary === "[kernel.kallsyms]");
    assert.ok(truth.length > 1000 && truth.every(({ state }) => state === "complete"));
  });

  const counts = (rows, name) => {
    const found = {};
    for (const row of rows) found[name(row)] = (found[name(row)] ?? 0) + 1;
    return found;
  };

  test("its functions are called as often as the truth says, from the callers that it says", () => {
    const { recording: { gaps, decode_errors: errors }, functions } = json(["functions", "--json", recording]);
    assert.deepEqual({ gaps, errors }, { gaps: 0, errors: 0 });
    const ours = functions.filter(isKernels);
    assert.deepEqual(Object.fromEntries(ours.map(({ name, complete }) => [name, complete])), counts(truth, ({ symbol }) => symbol));
    assert.ok(ours.every(({ incomplete, unwound }) => incomplete === 0 && unwound === 0));
    const { callers } = json(["report", "--json", "--function", "vfs_write", recording]);
    const sites = Object.fromEntries(callers.map(({ call_site: site, calls }) => [site, calls]));
    assert.deepEqual(sites, counts(truth.filter(({ symbol }) => symbol === "vfs_write"), ({ caller }) => caller));
  });

  test("each call lasts as long as the truth says, within its resolution", () => {
    for (const name of ["entry_SYSCALL_64", "do_syscall_64", "copy_to_user", "asm_sysvec_apic_timer_interrupt"]) {
      const { latency } = json(["report", "--json", "--function", name, recording]);
      const rows = truth.filter(({ symbol }) => symbol === name);
      const total = rows.reduce((sum, { start, end }) => sum + end - start, 0);
      const off = Math.abs(latency.total - total);
      assert.ok(off <= rows.length * (latency.resolution + 2), `${name}: ${latency.total} ns, true ${total} ns`);
    }
  });

  test("perf makes the same calls of it, without an error", () => {
    const kallsyms = path.join(code, "kallsyms");
    const script = (...options) => output("perf", ["script", "-i", bare, "--kallsyms", kallsyms, "--ns", ...options]);
    assert.equal(script("--itrace=e").trim(), "");
    const entered = new Set(truth.map(({ function: address }) => BigInt(address).toString(16)));
    let theirs = 0;
    for (const line of script("--itrace=c", "-F", "ip,addr,flags").split("\n")) {
      const target = /=>\s+([0-9a-f]+)/.exec(line)?.[1];
      if (target !== undefined && entered.has(target)) theirs += 1;
    }
    assert.equal(theirs, truth.length);
  });

  test("libipt's instruction decoder emits the same branches, in the kernel too", () => {
    assert.match(output(helper, ["verify", recording]), /no difference/);
    assert.match(output(helper, ["verify", "--kallsyms", path.join(code, "kallsyms"), bare]), /no difference/);
  });

  test("without its code there is no gap, the same user calls, and the time is named", () => {
    const [without, whole] = [bare, recording].map((file) => json(["functions", "--json", file]));
    assert.equal(without.recording.gaps, 0);
    assert.equal(without.recording.decode_errors, 0);
    assert.ok(noteOf(without.recording, "kernel_code_missing"));
    const figures = ({ functions }) => functions.filter((row) => !isKernels(row)).map(({ binary, address, complete, incomplete, inclusive }) => `${binary} ${address} ${complete} ${incomplete} ${inclusive}`).sort();
    assert.deepEqual(figures(without), figures(whole));
    const outside = output(helper, ["flame", bare]).split("\n").filter((line) => line.includes(";[outside user code] "));
    const sum = outside.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
    const entries = truth.filter(({ symbol }) => symbol === "entry_SYSCALL_64" || symbol.startsWith("asm_"));
    const total = entries.reduce((time, { start, end }) => time + end - start, 0);
    assert.ok(Math.abs(sum - total) <= 2 * entries.length, `${sum} ns, true ${total} ns`);
    assert.ok(!output(helper, ["flame", recording]).includes("[outside user code]"));
  });

  test("code and names of another kernel, or of another start of it, are refused", () => {
    const notCompared = (...args) => noteOf(json(["functions", "--json", ...args]).recording, "kernel_not_compared");
    assert.equal(notCompared(recording), undefined);
    const other = path.join(folder, "other");
    const refused = () => ptlens(["functions", "--kallsyms", path.join(other, "kallsyms"), bare]);
    const copy = () => output("cp", ["-rT", code, other]);
    copy();
    const core = readFileSync(path.join(other, "kcore"));
    const id = core.indexOf("PtSim made-up kernel");
    assert.notEqual(id, -1);
    core.write("Q", id);
    writeFileSync(path.join(other, "kcore"), core);
    assert.match(refused().stderr, /kcore: the file belongs to another kernel: its build-id is 51745369\S*, not 50745369/);
    core.fill(0, id - 16, id); // no note: perf's own copy of a kernel has none
    writeFileSync(path.join(other, "kcore"), core);
    const [withoutBuildId, matchingAddresses] = notCompared("--kallsyms", path.join(other, "kallsyms"), bare).arguments;
    assert.ok(withoutBuildId.startsWith(other), withoutBuildId);
    assert.notEqual(matchingAddresses, "");
    const names = readFileSync(path.join(other, "kallsyms"), "utf8");
    writeFileSync(path.join(other, "kallsyms"), names.replaceAll("ffffffff81", "ffffffff92"));
    assert.match(refused().stderr, /kallsyms: the file belongs to another kernel.*_text is at 0xffffffff92000000, and at 0xffffffff81000000 in the recording/);
  });

  test("ptlens record keeps a kernel's code, and opens what it has made", () => {
    const made = path.join(folder, "made");
    output(helper, ["record", "--kernel", "--backend", "intel_pt", "--perf", simulator, "-o", made, "--", orderServer, "--orders", "2", "--threads", "1", "--rate", "0"], { env: { ...process.env, PTSIM_START_AT: "main" } });
    assert.ok(readFileSync(path.join(made, "perf.data/kcore_dir/kcore")).includes("PtSim made-up kernel"));
    for (const each of [made, path.join(made, "perf.data"), path.join(made, "perf.data/data")]) {
      const { recording, functions } = json(["functions", "--json", each]);
      assert.deepEqual([recording.gaps, recording.decode_errors], [0, 0]);
      for (const code of ["kernel_code_missing", "kernel_not_compared"]) assert.equal(noteOf(recording, code), undefined);
      assert.equal(sampleFunction(functions, "handle_order")[0].complete, 2);
    }
  });

  test("code that is not what it should be is an error that says what to give", () => {
    const elsewhere = path.join(folder, "kallsyms");
    assert.match(ptlens(["functions", "--kallsyms", elsewhere, bare]).stderr, /kallsyms: No such file.*--kallsyms/);
    output("cp", [path.join(code, "kallsyms"), elsewhere]);
    assert.equal(ptlens(["functions", "--kallsyms", elsewhere, "--kcore", orderServer, bare]).status, 1);
    output("cp", [path.join(code, "kcore"), path.join(folder, "kcore")]);
    output("truncate", ["-s", "5000", path.join(folder, "kcore")]);
    assert.match(ptlens(["functions", "--kallsyms", elsewhere, bare]).stderr, /truncated/);
    renameSync(path.join(code, "kcore"), path.join(folder, "kcore"));
    output("sh", ["-c", `sed 's/^[0-9a-f]*/0000000000000000/' "${elsewhere}" > "${folder}/hidden"`]);
    const { status, stderr } = ptlens(["functions", "--kallsyms", path.join(folder, "hidden"), "--kcore", path.join(folder, "kcore"), bare]);
    assert.equal(status, 1);
    assert.match(stderr, /contains no function/);
  });
});
