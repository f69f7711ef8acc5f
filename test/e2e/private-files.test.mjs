// Processes whose files are not the ones that their paths name here: a chroot, a private mount, a file
// system of their own, a program that was rebuilt while it runs. Two builds of one source differ in the
// address of the measured function; nm gives it for the build that runs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { background, helper, json, noProbes, output, probesWithoutBudget, run, temporaryFolder, until } from "./support.mjs";

const compiler = process.env.CC ?? "gcc";
const source = `#include <stdio.h>
#include <unistd.h>
#ifdef OTHER
__attribute__((noinline, used)) void padding(void) { __asm__ volatile(".fill 300, 1, 0x90"); }
#endif
__attribute__((noinline)) void tick(void) { __asm__ volatile("" ::: "memory"); usleep(1000); }
int main(void) { puts("ready"); fflush(stdout); for (;;) tick(); }
`;

function whyNot() {
  if (noProbes) return noProbes;
  if (run(compiler, ["--version"]).status !== 0) return `${compiler} does not run`;
  return spawnSync("unshare", ["-m", "true"]).status === 0 ? false : "this user may not make a mount namespace";
}

const addressOf = (program) => `0x${BigInt(`0x${/^([0-9a-f]+) [Tt] tick$/m.exec(output("nm", [program]))[1]}`).toString(16)}`;

describe("files that only the process sees", { skip: whyNot() }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const one = path.join(folder, "one"); // static: it runs in an empty root
  const other = path.join(folder, "other");

  before(() => {
    const file = path.join(folder, "program.c");
    writeFileSync(file, source);
    for (const [program, flags] of [[one, []], [other, ["-DOTHER"]]]) output(compiler, ["-O1", "-g", "-static", ...flags, "-o", program, file]);
    assert.notEqual(addressOf(one), addressOf(other));
  });

  // Measures the process, ends it, and asks the recording and a bundle of it.
  async function measured(t, process_, pid, program, shownPath) {
    const there = temporaryFolder(t);
    const recording = path.join(there, "recording");
    const answer = JSON.parse(output(helper, ["record", "--json", ...probesWithoutBudget, "--pid", String(pid), "--function", "tick", "--duration", "500ms", "-o", recording]));
    assert.deepEqual(answer.notes.filter(({ code }) => code === "private_files_not_copied"), []);
    process_.child.kill("SIGKILL");
    await process_.closed;
    const bundle = path.join(there, "bundle.ptlens");
    output(helper, ["bundle", recording, "-o", bundle]);
    for (const each of [recording, bundle]) {
      const { function: tick, calls, recording: about } = json(["report", "--json", "--no-cache", "--function", "tick", each]);
      assert.equal(tick.address, addressOf(program), each);
      assert.equal(tick.binary, shownPath);
      assert.ok(calls.complete > 10, JSON.stringify(calls));
      assert.ok(tick.file.endsWith("program.c"), "the lines are those of the program that ran");
      assert.equal(about.decode_errors, 0);
    }
  }

  // Starts a shell script in a mount namespace of its own. It ends with exec, so that the pid is the program's.
  async function started(t, script) {
    const process_ = background(t, "unshare", ["-m", "--propagation", "private", "sh", "-ec", script]);
    await until("the program runs", () => process_.text.stdout.includes("ready"));
    return process_;
  }

  test("a chroot", async (t) => {
    const root = temporaryFolder(t);
    copyFileSync(one, path.join(root, "program"));
    const process_ = background(t, "chroot", [root, "/program"]);
    await until("the program runs", () => process_.text.stdout.includes("ready"));
    await measured(t, process_, process_.child.pid, one, path.join(root, "program"));
  });

  test("a chroot in a private file system: the path is another program here", async (t) => {
    const root = temporaryFolder(t);
    mkdirSync(path.join(root, "bin"));
    copyFileSync(other, path.join(root, "bin/program")); // hidden by the mount
    const process_ = await started(t, `mount -t tmpfs none ${root}; mkdir ${root}/bin; cp ${one} ${root}/bin/program; exec chroot ${root} /bin/program`);
    await measured(t, process_, process_.child.pid, one, path.join(root, "bin/program"));
  });

  test("a private mount over a program", async (t) => {
    const program = path.join(temporaryFolder(t), "program");
    copyFileSync(other, program);
    const process_ = await started(t, `mount --bind ${one} ${program}; exec ${program}`);
    await measured(t, process_, process_.child.pid, one, program);
  });

  for (const [name, replace] of [
    ["removed", (program) => rmSync(program)],
    ["rebuilt", (program) => {
      copyFileSync(other, `${program}.new`);
      renameSync(`${program}.new`, program);
    }],
  ]) {
    test(`a program that was ${name} while it runs`, async (t) => {
      const program = path.join(temporaryFolder(t), "program");
      copyFileSync(one, program);
      const process_ = background(t, program, []);
      await until("the program runs", () => process_.text.stdout.includes("ready"));
      replace(program);
      assert.equal(existsSync(program), name === "rebuilt");
      await measured(t, process_, process_.child.pid, one, program);
    });
  }
});
