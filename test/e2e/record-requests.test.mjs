// Every kind of request for an Intel PT recording: the simulator takes the command line that the helper
// gives to perf, and the recording decodes to the calls that the program's arithmetic says. Requests that
// cannot be met are answered about what is wrong with them.
import assert from "node:assert/strict";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { background, helper, json, noPerf, noProbes, output, ptlens, run, simulator, temporaryFolder, until } from "./support.mjs";

const compiler = process.env.CC ?? "gcc";
const threads = 2;
const turns = 150;

const source = `
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noipa)) unsigned leaf(unsigned x) { return x * 5 + 3; }
__attribute__((noipa)) unsigned work(unsigned x) { for (int i = 0; i < 4; ++i) x = x & 1 ? leaf(x) : x / 2 + 9; return x; }
static void* turn(void* given) { unsigned x = 1; for (int i = 0; i < ${turns}; ++i) x = work(x); return given; }
int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "--wait") == 0) { puts("ready"); fflush(stdout); getchar(); }
  pthread_t other; pthread_create(&other, NULL, turn, NULL); turn(NULL); pthread_join(other, NULL);
  char folder[4096]; printf("%s|%s|%s\\n", count > 1 ? words[1] : "", getenv("ORDER") ? getenv("ORDER") : "", getcwd(folder, sizeof folder));
  return 0;
}
`;

function whyNot() {
  if (!existsSync(simulator)) return `${simulator} is not built`;
  return run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run`;
}

function compile(folder) {
  const file = path.join(folder, "program.c");
  writeFileSync(file, source);
  output(compiler, ["-O2", "-g", "-pthread", "-o", path.join(folder, "program"), file]);
  return path.join(folder, "program");
}

const arguments_ = (folder, options) =>
  ["record", "--backend", "intel_pt", "--perf", simulator, "--json", "-o", path.join(folder, "recording"), ...options];

const commandOf = (folder) => JSON.parse(readFileSync(path.join(folder, "recording/manifest.json"), "utf8")).perf_command;

function callsOf(folder, name) {
  const { functions, recording } = json(["functions", "--json", path.join(folder, "recording")]);
  const [row] = functions.filter((each) => each.name === name);
  assert.equal(recording.decode_errors, 0);
  return row ?? { complete: 0, incomplete: 0, unwound: 0 };
}

const tracerOf = (pid) => Number(/^TracerPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);

describe("requests for a trace", { skip: whyNot() }, () => {
  const started = {
    "a program": [[], /cyc,mtc_period=3,noretcomp=0\/u/],
    "a function": [["--function", "work"], /noretcomp=1/],
    "a tenth of a second": [["--function", "work", "--duration", "0.1"], /psb_period=0,noretcomp=1/, "some"],
    "half a minute": [["--function", "work", "--duration", "30"], /mtc_period=6,psb_period=4,noretcomp=0/],
    "ten minutes": [["--function", "work", "--duration", "600"], /intel_pt\/mtc_period=3,psb_period=5/],
    "a filter": [["--function", "work", "--filter"], /--filter\|filter 0x[0-9a-f]+\/0x[0-9a-f]+@/],
    "a snapshot": [["--function", "work", "--snapshot"], /--snapshot=e/],
    "the kernel": [["--function", "work", "--kernel"], /noretcomp=1\/\|--kcore/],
  };
  for (const [name, [options, expected, some]] of Object.entries(started)) {
    test(`${name}, started`, (t) => {
      const folder = temporaryFolder(t);
      const answer = JSON.parse(output(helper, arguments_(folder, [...options, "--", compile(folder)])));
      assert.equal(answer.backend, "intel_pt");
      assert.match(commandOf(folder).join("|"), expected);
      const { complete, incomplete } = callsOf(folder, "work");
      if (some) return; // it may be over before the program begins
      assert.deepEqual([complete, incomplete], [threads * turns, 0]);
    });
  }

  test("a program with arguments, environment and working directory", (t) => {
    const folder = temporaryFolder(t);
    const program = compile(folder);
    const log = path.join(folder, "log");
    const options = ["--cwd", folder, "--env", "ORDER=66", "--", "/bin/sh", "-c", `"$0" "$1" > ${log}`, program, "a b;$(c)"];
    output(helper, arguments_(folder, options));
    assert.equal(readFileSync(log, "utf8"), `a b;$(c)|66|${realpathSync(folder)}\n`);
  });

  for (const [name, target, expected] of [
    ["a process", (pid) => ["--pid", pid], threads * turns],
    ["a process, probed first", (pid) => ["--pid", pid, "--probe", "--duration", "60"], threads * turns],
    ["a thread", (pid) => ["--tid", pid], turns],
    ["every CPU", () => ["--all-cpus"], threads * turns],
    ["a CPU", () => ["--cpu", "1"], undefined],
  ]) {
    test(`${name}, attached`, async (t) => {
      const folder = temporaryFolder(t);
      const target_ = background(t, compile(folder), ["--wait"]);
      await until("the program waits", () => target_.text.stdout.includes("ready"));
      const pid = String(target_.child.pid);
      const options = ["--function", "work", "--binary", path.join(folder, "program"), ...target(pid)];
      const environment = /CPU/.test(name) ? { ...process.env, PTSIM_BESIDE: pid } : process.env;
      const recorder = background(t, helper, arguments_(folder, options), { env: environment });
      await until("it is traced", () => recorder.child.exitCode !== null || (existsSync(path.join(folder, "recording/perf.data")) && tracerOf(pid) !== 0));
      target_.child.stdin.end("\n");
      await target_.closed;
      if (/CPU/.test(name)) recorder.child.kill("SIGINT");
      const { status, stderr, stdout } = await recorder.closed;
      assert.equal(status, 0, stderr);
      const { complete, incomplete } = callsOf(folder, "work");
      if (expected === undefined) assert.ok(complete <= threads * turns);
      else assert.deepEqual([complete, incomplete], [expected, 0]);
      const { asked, traced, lost } = JSON.parse(stdout);
      assert.equal(asked.function, "work");
      assert.ok(traced.bytes > 0 && traced.seconds > 0);
      assert.deepEqual([lost.truncated, lost.records], [0, 0]);
    });
  }
});

// What was typed, and what the answer must be about. Nothing is recorded.
describe("requests that cannot be met", () => {
  const here = String(process.pid);
  const cases = [
    [["record", "--fnction", "f", "--pid", here], 2, /no option --fnction; did you mean --function\?/],
    [["record", "--fnction", "f"], 2, /no option --fnction; did you mean --function\?/],
    [["record", "./program", "--nesting", "3"], 2, /no option --nesting; if it belongs to the program, write -- before the program/],
    [["record", "-x", "--", "true"], 2, /no option -x/],
    [["report", "--fnction", "f"], 2, /no option --fnction; did you mean --function\?/],
    [["flame", "recording", "--formt=json"], 2, /no option --formt; did you mean --format\?/],
    [["recrod", "--pid", here], 2, /no command recrod; did you mean record\?/],
    [["--pid", here, "record"], 2, /no option --pid before the command/],
    [["record"], 2, /names no target/],
    [["record", "--pid", here, "--tid", here], 2, /names several/],
    [["record", "--pid", "abc"], 2, /"abc" is not the number of a process/],
    [["record", "--pid", "0"], 2, /"0" is not the number of a process/],
    [["record", "--pid", here, "--duration", "2x"], 2, /--duration: "2x" has the unknown unit x; write a number and a unit/],
    [["record", "--pid", here, "--duration", "soon"], 2, /--duration: "soon" is not a duration/],
    [["record", "--pid", here, "--duration", "-1"], 2, /--duration: "-1" is not a duration/],
    [["record", "--pid", here, "--duration", "0.1ms"], 2, /0\.1ms is not between 1 ms and 24 h/],
    [["record", "--pid", here, "--duration", "25h"], 2, /25h is not between 1 ms and 24 h/],
    [["record", "--pid", here, "--snapshot", "--function", "f", "--slower-than", "5"], 2, /--slower-than: "5" has no unit/],
    [["record", "--pid", here, "--function", "f", "--slower-than", "5ms"], 2, /--slower-than requires --snapshot/],
    [["record", "--pid", here, "--cwd", "/"], 1, /--cwd is for a program that is started, and this request records process/],
    [["record", "--pid", here, "--env", "A=1"], 1, /--env is for a program that is started/],
    [["record", "--pid", here, "--binary", "node"], 1, /--binary names the file of a function, and the request names no function; add --function/],
    [["record", "--pid", here, "--all"], 1, /--all measures every function of a name, and the request names no function/],
    [["record", "--pid", here, "--filter"], 1, /an address filter requires a function/],
    [["record", "--pid", here, "--filter", "--function", "f", "--function", "g"], 1, /an address filter traces one function, and the request names several/],
    ...["--filter", "--kernel", "--probe"].map((option) => [["record", "--backend", "uprobe", "--pid", here, "--function", "f", option], 1, new RegExp(`${option} requires Intel Processor Trace, and this recording uses probes`), noPerf]),
    [["record", "--backend", "uprobe", "--pid", here], 1, /probes measure one function, and the request names none; add --function/, noPerf],
    [["record", "--backend", "uprobe", "--pid", "2", "--function", "f"], 1, /process 2 is a thread of the kernel|does not exist/, noPerf || (existsSync("/proc/2/exe") ? "process 2 is a program here" : false)],
  ];
  for (const [args, status, message, skip] of cases) {
    test(args.join(" ").replace(here, "PID"), { skip: skip ?? false }, () => {
      const answer = ptlens(args, { cwd: os.tmpdir() });
      assert.match(answer.stderr, message);
      assert.equal(answer.status, status);
      assert.equal(answer.stdout, "");
    });
  }

  test("without -o the recording gets a folder of its own, which is printed", { skip: noProbes }, (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(path.join(folder, "work.c"), "__attribute__((noinline)) void work(void) { __asm__ volatile(\"\" ::: \"memory\"); }\nint main(void) { work(); return 0; }\n");
    output(compiler, ["-O1", "-g", "-o", path.join(folder, "work"), path.join(folder, "work.c")]);
    const answer = JSON.parse(output(helper, ["record", "--json", "--backend", "uprobe", "--function", "work", "--duration", "2m", "--", path.join(folder, "work")], { cwd: folder }));
    assert.match(path.basename(answer.path), /^ptlens-\d{8}-\d{6}$/);
    assert.equal(realpathSync(path.dirname(answer.path)), realpathSync(folder));
    assert.ok(existsSync(path.join(answer.path, "perf.data")));
    assert.equal(answer.asked.seconds, 120);
  });
});
