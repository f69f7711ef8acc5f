// Every spelling of a function's name. nm gives the address of each symbol, and the sources determine how
// often each is called. C++ is compiled here; Rust's and Go's names are in an assembler file, so that it needs
// neither compiler.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { helper, json, noProbes, output, probesWithoutBudget, ptlens, root, run, simulator } from "./support.mjs";

const compiler = process.env.CXX ?? "g++";
const event = "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";
const samples = path.join(root, "test/samples");
const skip = existsSync(simulator) ? (run(compiler, ["--version"]).status === 0 ? false : `${compiler} does not run`) : `${simulator} is not built`;

// Addresses as nm prints them, by linkage name; several where static functions have one name.
function symbols(program) {
  const found = new Map();
  for (const line of output("nm", [program]).split("\n")) {
    const [, address, name] = /^([0-9a-f]+) [TtWw] (.+)$/.exec(line) ?? [];
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), `0x${BigInt(`0x${address}`).toString(16)}`]);
  }
  return found;
}

function recorded(folder, name, sources, flags) {
  const program = path.join(folder, name);
  output(compiler, [...flags, "-o", program, ...sources.map((source) => path.join(samples, source))]);
  const file = path.join(folder, `${name}.data`);
  output(simulator, ["record", "-e", event, "--start-at", "main", "-o", file, "--", program], { env: { ...process.env, LD_BIND_NOW: "1" } });
  return { program, file, symbols: symbols(program) };
}

describe("names of functions", { skip }, () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-e2e-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let cpp;
  let foreign;
  before(() => {
    cpp = recorded(folder, "names", ["names.cpp", "names_other.cpp"], ["-std=c++20", "-g", "-O1"]);
    foreign = recorded(folder, "foreign_names", ["foreign_names.s"], []);
  });

  const report = ({ file }, name, ...more) => json(["report", "--json", "--function", name, ...more, file]);
  const refused = ({ file }, name) => {
    const { status, stderr } = ptlens(["report", "--json", "--function", name, file]);
    assert.equal(status, 1, name);
    return stderr;
  };

  test("C++: operators, templates, overloads, lambdas, namespaces, linkage names", () => {
    const spellings = {
      _ZNK4shop5OrderplEi: ["shop::Order::operator+(int) const", "shop::Order::operator+", "Order::operator+", "operator+"],
      _ZNK4shop5OrdercvbEv: ["shop::Order::operator bool", "operator bool", "shop::Order::operator bool() const"],
      _ZNK4shop5OrderclEi: ["shop::Order::operator()", "Order::operator()(int) const"],
      _ZN4shop3BoxIiE5weighEi: ["shop::Box<int>::weigh", "Box<int>::weigh", "Box<int>::weigh(int)"],
      _ZN4shop3BoxIdE5weighEi: ["shop::Box<double>::weigh(int)"],
      _ZN4shop7largestIiEET_S1_S1_: ["largest<int>", "shop::largest<int>", "shop::largest<int>(int, int)", "shop::largest<int>(int,int)"],
      _ZN4shop6settleEd: ["settle(double)", "shop::settle(double)", "_ZN4shop6settleEd"],
      _ZN4shop12_GLOBAL__N_16hiddenEi: ["hidden", "(anonymous namespace)::hidden", "shop::(anonymous namespace)::hidden(int)"],
      _ZZ4mainENKUliE_clEi: ["main::{lambda(int)#1}", "main::{lambda(int)#1}::operator()", "{lambda(int)#1}::operator()"],
    };
    for (const [symbol, names] of Object.entries(spellings)) {
      const [address] = cpp.symbols.get(symbol) ?? assert.fail(`${symbol} is not in the program`);
      for (const name of names) assert.equal(report(cpp, name).function.address, address, name);
    }
  });

  test("C++: an ambiguous name is refused with its candidates, and --all reports them together", () => {
    for (const name of ["largest", "settle", "tick", "Box::weigh", "weigh(int)"]) assert.match(refused(cpp, name), /2 functions match .*--all/, name);
    const largest = report(cpp, "largest", "--all");
    assert.equal(largest.function.name, "shop::largest");
    assert.equal(largest.function.address, null);
    assert.equal(largest.calls.complete, 3);
    const rows = Object.fromEntries(largest.instances.map((row) => [row.address, row.calls.complete]));
    assert.deepEqual(rows, {
      [cpp.symbols.get("_ZN4shop7largestIiEET_S1_S1_")[0]]: 1,
      [cpp.symbols.get("_ZN4shop7largestIdEET_S1_S1_")[0]]: 2,
    });
    const one = report(cpp, "largest<int>").latency;
    const other = report(cpp, "largest<double>").latency;
    assert.equal(largest.latency.total, one.total + other.total);
    assert.equal(largest.latency.max, Math.max(one.max, other.max));
    assert.equal(largest.callers.reduce((sum, { calls }) => sum + calls, 0), 3);
    const ticks = report(cpp, "tick", "--all");
    assert.deepEqual(ticks.instances.map((row) => row.address).sort(), cpp.symbols.get("_ZL4ticki").sort());
    assert.deepEqual(ticks.instances.map((row) => [path.basename(row.file), row.calls.complete]).sort(), [["names.cpp", 1], ["names_other.cpp", 2]]);
    assert.match(output(helper, ["report", "--all", "--function", "tick", cpp.file]), /2 functions together/);
    const flame = json(["flame", "--format", "json", "--all", "--function", "largest", cpp.file]);
    assert.deepEqual(flame.functions.map(({ address }) => address).sort(), Object.keys(rows).sort());
  });

  test("one of static functions with equal names is named by its address", () => {
    for (const address of cpp.symbols.get("_ZL4ticki")) assert.equal(report(cpp, `tick@${address}`).function.address, address);
  });

  test("Rust, v0 and legacy mangling", () => {
    const spellings = {
      _RINvNtCskaE4D5CAPs_9spellings4shop7largestyEB4_: ["spellings::shop::largest::<u64>", "largest::<u64>"],
      _RNvMs0_CskaE4D5CAPs_9spellingsNtB5_5Order3new: ["<spellings::Order>::new", "spellings::Order::new", "Order::new", "new"],
      _RNvXCskaE4D5CAPs_9spellingsNtB2_5OrderNtB2_6Priced5price: ["<spellings::Order as spellings::Priced>::price", "Order::price", "Priced::price", "price"],
      _RNCNvCskaE4D5CAPs_9spellings4main0: ["spellings::main::{closure#0}", "main::{closure#0}"],
      "_ZN50_$LT$legacy..Basket$u20$as$u20$legacy..Weighed$GT$5weigh17h08e6b6b8d9ee3681E": ["Basket::weigh", "Weighed::weigh", "weigh", "<legacy::Basket as legacy::Weighed>::weigh"],
      _ZN6legacy6Basket4fill17hc7d852f14bb7d880E: ["legacy::Basket::fill", "Basket::fill", "fill"],
    };
    for (const [symbol, names] of Object.entries(spellings)) {
      const [address] = foreign.symbols.get(symbol) ?? assert.fail(symbol);
      for (const name of names) assert.equal(report(foreign, name).function.address, address, name);
    }
    for (const name of ["spellings::shop::largest", "legacy::least"]) {
      assert.match(refused(foreign, name), /2 functions match/);
      assert.equal(report(foreign, name, "--all").calls.complete, 2);
    }
  });

  test("each candidate of an ambiguous name can be given back as --function", () => {
    const pasted = (recording, name) =>
      [...refused(recording, name).split('": ')[1].matchAll(/(.+?) \(\/\S+:(0x[0-9a-f]+)(?:, [^()]*)?\)(?:, |; )/g)].map(([, candidate, address]) => [candidate, address]);
    for (const [recording, name, expected] of [
      [foreign, "legacy::least", ["_ZN6legacy5least17hb77f7ec125e5fda4E", "_ZN6legacy5least17hecc3093d590b69d9E"]],
      [foreign, "spellings::shop::largest", ["_RINvNtCskaE4D5CAPs_9spellings4shop7largestdEB4_", "_RINvNtCskaE4D5CAPs_9spellings4shop7largestyEB4_"]],
      [cpp, "settle", ["_ZN4shop6settleEd", "_ZN4shop6settleEi"]],
      [cpp, "largest", ["_ZN4shop7largestIiEET_S1_S1_", "_ZN4shop7largestIdEET_S1_S1_"]],
      [cpp, "tick", ["_ZL4ticki"]],
    ]) {
      const candidates = pasted(recording, name);
      const addresses = expected.flatMap((symbol) => recording.symbols.get(symbol) ?? assert.fail(symbol));
      assert.deepEqual(candidates.map(([, address]) => address).sort(), addresses.sort(), name);
      for (const [candidate, address] of candidates) assert.equal(report(recording, candidate).function.address, address, candidate);
    }
    assert.match(refused(foreign, "legacy::least"), /legacy::least::hb77f7ec125e5fda4 /);
  });

  test("recording: each candidate of an ambiguous name can be given back", { skip: noProbes }, () => {
    const record = (name, output) => ptlens(["record", ...probesWithoutBudget, "--function", name, "-o", output, "--", foreign.program]);
    const { status, stderr } = record("legacy::least", path.join(folder, "ambiguous"));
    assert.equal(status, 1);
    const [candidate] = /legacy::least::h[0-9a-f]{16}/.exec(stderr) ?? assert.fail(stderr);
    const recording = path.join(folder, "one-instance");
    assert.equal(record(candidate, recording).status, 0);
    assert.equal(report({ file: recording }, "legacy::least").function.address, foreign.symbols.get(`_ZN6legacy5least17${candidate.slice(-17)}E`)[0]);
  });

  test("Go: packages with paths, methods of pointers and values, generic ones, closures", () => {
    const spellings = {
      "main.(*Cart).Add": ["main.(*Cart).Add", "(*Cart).Add", "Cart.Add", "main.Cart.Add", "Add"],
      "main.Cart.Total": ["main.Cart.Total", "Cart.Total", "Total"],
      "main.Most[go.shape.int]": ["main.Most[go.shape.int]", "Most[go.shape.int]"],
      "example.com/shop-v2/cmd.d/stock.(*Shelf[go.shape.string]).Take": ["stock.(*Shelf).Take", "Shelf.Take", "Take", "example.com/shop-v2/cmd.d/stock.(*Shelf).Take"],
      "example.com/shop-v2/cmd.d/stock.Count": ["stock.Count", "Count", "example.com/shop-v2/cmd.d/stock.Count"],
      "main.main.func1": ["main.main.func1", "main.func1", "func1"],
    };
    for (const [symbol, names] of Object.entries(spellings)) {
      const [address] = foreign.symbols.get(symbol) ?? assert.fail(symbol);
      for (const name of names) assert.equal(report(foreign, name).function.address, address, name);
    }
    assert.match(refused(foreign, "main.Most"), /2 functions match/);
    assert.equal(report(foreign, "Most", "--all").calls.complete, 2);
  });

  test("recording all functions of a name with probes measures each", { skip: noProbes }, () => {
    const recording = path.join(folder, "all");
    output(helper, ["record", ...probesWithoutBudget, "--function", "largest", "--all", "-o", recording, "--", cpp.program]);
    const { calls, instances } = json(["report", "--json", "--function", "largest", "--all", recording]);
    assert.equal(calls.complete, 3);
    assert.deepEqual(instances.map((row) => row.calls.complete), [2, 1]);
  });

  test("an address filter holds one function: --all is refused with a remedy", () => {
    const { status, stderr } = ptlens(["record", "--backend", "intel_pt", "--perf", simulator, "--filter", "--function", "largest", "--all", "-o", path.join(folder, "filtered"), "--", cpp.program]);
    assert.equal(status, 1);
    assert.match(stderr, /omit --filter/);
  });

  test("a function that was inlined everywhere: its callers are offered", { skip: noProbes }, () => {
    const { status, stderr } = ptlens(["record", ...probesWithoutBudget, "--function", "mix", "-o", path.join(folder, "mix"), "--", cpp.program]);
    assert.equal(status, 1);
    assert.match(stderr, /mix was inlined everywhere \(2 locations\)/);
    assert.match(stderr, /stirs\(int\)/);
    assert.match(stderr, /blends\(int\)/);
  });
});
