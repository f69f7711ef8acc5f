// A function with several names is one function under each of them: recorded by one, asked for by the
// others. nm gives the address of every name and version, and the program's loops the number of calls.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { helper, json, jsonLines, noProbes, output, probesWithoutBudget, ptlens, run, simulator } from "./support.mjs";

const compiler = process.env.CC ?? "gcc";
const [calls, totals, old] = [7, 5, 3];

// __price is the strong name, price and cost are weak ones. Programs linked today get total@@NEW.
const library = `
__attribute__((noinline)) int __price(int value) { __asm__ volatile("" ::: "memory"); return value + 1; }
__attribute__((weak, alias("__price"))) int price(int);
__attribute__((weak, alias("__price"))) int cost(int);
__attribute__((noinline)) int old_total(int value) { __asm__ volatile("" ::: "memory"); return value + 2; }
__attribute__((noinline)) int new_total(int value) { __asm__ volatile("" ::: "memory"); return value + 3; }
__asm__(".symver old_total,total@OLD");
__asm__(".symver new_total,total@@NEW");
`;
const versions = "OLD { global: total; local: old_total; new_total; };\nNEW { global: total; __price; price; cost; } OLD;\n";
const source = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
int cost(int); int total(int);
__attribute__((noinline)) int buy(int value) { int sum = cost(value); __asm__ volatile("" ::: "memory"); return sum + total(value); }
int main(void) {
  int (*before)(int) = (int (*)(int))dlvsym(RTLD_DEFAULT, "total", "OLD");
  int sum = 0;
  for (int turn = 0; turn < ${totals}; turn++) sum += buy(turn);
  for (int turn = ${totals}; turn < ${calls}; turn++) sum += cost(turn);
  for (int turn = 0; turn < ${old}; turn++) sum += before(turn);
  return sum == 0;
}
`;

describe("aliases and versions", { skip: run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run` }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const program = path.join(folder, "program");
  const shared = path.join(folder, "libprices.so");
  const addresses = new Map(); // by name and version

  before(() => {
    for (const [name, text] of Object.entries({ "library.c": library, "program.c": source, versions })) writeFileSync(path.join(folder, name), text);
    output(compiler, ["-O1", "-g", "-fPIC", "-shared", `-Wl,--version-script=${folder}/versions`, "-o", shared, path.join(folder, "library.c")]);
    output(compiler, ["-O1", "-g", "-o", program, path.join(folder, "program.c"), shared, "-ldl", `-Wl,-rpath,${folder}`]);
    for (const line of output("nm", ["-D", "--with-symbol-versions", shared]).split("\n")) {
      const [, address, name] = /^([0-9a-f]+) [TW] (\S+)$/.exec(line) ?? [];
      if (name !== undefined) addresses.set(name, `0x${BigInt(`0x${address}`).toString(16)}`);
    }
  });

  // Every spelling, its address according to nm, and the calls that the program makes.
  const spellings = () => [
    ...["price", "cost", "__price", "price@@NEW", "cost@NEW", "cost@plt"].map((name) => [name, addresses.get("__price@@NEW"), calls]),
    ...["total", "total@@NEW"].map((name) => [name, addresses.get("total@@NEW"), totals]),
    ["total@OLD", addresses.get("total@OLD"), old],
  ];

  function asked(recording) {
    for (const [name, address, count] of spellings()) {
      const report = json(["report", "--json", "--function", name, recording]);
      assert.deepEqual([report.function.address, report.calls.complete], [address, count], name);
      assert.equal(jsonLines(output(helper, ["calls", "--json-lines", "--function", name, recording])).length, count, name);
      const flame = json(["flame", "--format", "json", "--function", name, recording]);
      assert.ok(flame.functions.some((each) => each.address === address), name);
      const diff = json(["diff", "--json", "--function", name, recording, recording]);
      assert.ok(JSON.stringify(diff).includes(`"${address}"`), name);
    }
    assert.equal(ptlens(["report", "--function", "cost@@OLD", recording]).status, 1);
    assert.match(output(helper, ["report", "--function", "cost", recording]), /^__price\n.*library\.c:2\n {2}also named (?:price, cost|cost, price)\n/);
  }

  test("probes: recorded by one name, asked for by all; calls through stubs are followed", { skip: noProbes }, () => {
    const recording = path.join(folder, "probes");
    const wanted = ["buy", "cost", "total", "total@OLD"].flatMap((name) => ["--function", name]);
    const answer = JSON.parse(output(helper, ["record", "--json", ...probesWithoutBudget, ...wanted, "-o", recording, "--", program]));
    assert.deepEqual(answer.notes.filter(({ code }) => /^callees_/.test(code)), []);
    asked(recording);
    const { children } = json(["report", "--json", "--function", "buy", recording]);
    assert.deepEqual(new Set(children.map(({ address }) => address)), new Set([addresses.get("__price@@NEW"), addresses.get("total@@NEW")]));
  });

  test("a trace: asked for by all names", { skip: existsSync(simulator) ? false : `${simulator} is not built` }, () => {
    const file = path.join(folder, "trace.data");
    output(simulator, ["record", "-e", "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u", "--start-at", "main", "-o", file, "--", program]);
    asked(file);
    const timed = json(["lines", "--json", "--file", "library.c", "--time", "--function", "cost", file]);
    assert.ok(timed.line_time !== null);
  });

  test("a running program: the functions of its C library are found through its stubs", { skip: noProbes }, () => {
    const text = `#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>
__attribute__((noinline)) void turn(void) { void *block = malloc(100); __asm__ volatile("" :: "r"(block) : "memory"); free(block); write(1, "", 0); }
int main(void) { for (int count = 0; count < 40; count++) turn(); return 0; }\n`;
    writeFileSync(path.join(folder, "memory.c"), text);
    output(compiler, ["-O1", "-g", "-o", path.join(folder, "memory"), path.join(folder, "memory.c")]);
    const recording = path.join(folder, "memory.recorded");
    const answer = JSON.parse(output(helper, ["record", "--json", ...probesWithoutBudget, "--function", "turn", "-o", recording, "--", path.join(folder, "memory")]));
    assert.deepEqual(answer.notes.filter(({ code }) => code === "callees_not_loaded"), []);
    for (const name of ["free", "malloc", "write", "__write"]) assert.equal(json(["report", "--json", "--function", name, recording]).callers.find((row) => row.name === "turn")?.calls, 40, name);
  });
});
