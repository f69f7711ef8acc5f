// Recordings of real Intel CPUs, judged by what perf's decoder says of them.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { json, noPerf, noTraces, output, helper, traces } from "./support.mjs";

const recording = (name) => path.join(traces, name, "perf.data");
const symfs = (name) => ["--symfs", path.join(traces, name, "symfs")];

// perf's words for a branch, in ours.
const kindOfPerf = {
  "tr strt": ["on"], "tr end async": ["off"], call: ["call"], return: ["return"], jcc: ["cond"], jmp: ["jump", "indirect"],
};

// Lines of `perf script` as { tid, kinds, from, to }; an error line is a gap.
function perfBranches(name) {
  const file = path.join(traces, name, "truth/perf-branches.txt");
  const text = name === "lldb-multi-core" ? output("xz", ["-dc", `${file}.xz`]) : readFileSync(file, "utf8");
  return text.split("\n").filter(Boolean).map((line) => {
    const error = /^\s*instruction trace error .* tid (\d+) ip 0x([0-9a-f]+) /.exec(line);
    if (error) return { tid: Number(error[1]), kinds: ["gap"], from: BigInt(`0x${error[2]}`), to: 0n };
    const found = /^\s*(\d+)\s+(?:\[\d+\]\s+[\d.]+:\s+)?(\S.*?)\s+([0-9a-f]+) \S+ =>\s+([0-9a-f]+) \S+$/.exec(line);
    assert.ok(found, `not understood: ${line}`);
    const kinds = kindOfPerf[found[2].replace(/\s+/g, " ")];
    assert.ok(kinds, `perf's branch kind is new: ${line}`);
    return { tid: Number(found[1]), kinds, from: BigInt(`0x${found[3]}`), to: BigInt(`0x${found[4]}`) };
  });
}

function ourBranches(name) {
  const text = output(helper, ["decode", "--events", "branches", ...symfs(name), recording(name)]);
  return text.split("\n").filter(Boolean).map((line) => {
    const fields = line.split("\t");
    assert.equal(fields.length, 7, `seven fields: ${line}`);
    const [time, tid, , kind, from, to] = fields;
    assert.match(time, /^\d+$/);
    const address = (field) => BigInt(field.startsWith("0x") ? field : `0x${field}`);
    return { tid: Number(tid), kind, from: address(from), to: address(to) };
  });
}

// Of lldb-multi-core perf prints one branch more, after a "tr end" without a "tr strt" (the last byte of
// the buffer, a TNT at a time when the CPU was idle), and three instructions with it. The instruction
// counts known to be true do not hold them; neither do we.
const whileTracing = (branches) => {
  const end = branches.findIndex((branch, index) => index > 0 && branches[index - 1].kinds[0] === "off" && !["on", "gap"].includes(branch.kinds[0]));
  return end < 0 ? branches : branches.slice(0, end);
};

// perf says nothing where decoding begins inside traced code; we may say `on`.
const withoutFirstOn = (branches) => (branches[0]?.kind === "on" || branches[0]?.kinds?.[0] === "on" ? branches.slice(1) : branches);

for (const name of ["lldb-main", "lldb-multi-file", "lldb-multi-core"]) {
  test(`${name}: the branches are perf's, one by one`, { skip: noTraces }, () => {
    const truth = groupBy(perfBranches(name));
    const ours = groupBy(ourBranches(name));
    for (const [tid, all] of truth) {
      const expected = withoutFirstOn(whileTracing(all));
      const found = withoutFirstOn(ours.get(tid) ?? []);
      expected.forEach((want, index) => {
        const got = found[index];
        const show = (branch) => branch && `${branch.kind ?? branch.kinds} ${branch.from.toString(16)} => ${branch.to.toString(16)}`;
        const same = got && want.kinds.includes(got.kind) && want.from === got.from && (want.kinds[0] === "gap" || want.to === got.to);
        assert.ok(same, `thread ${tid}, branch ${index}: perf ${show(want)}, ptlens ${show(got)}`);
      });
      assert.equal(found.length, expected.length, `thread ${tid}: as many branches as perf`);
    }
  });
}

function groupBy(branches) {
  const groups = new Map();
  for (const branch of branches) {
    if (!groups.has(branch.tid)) groups.set(branch.tid, []);
    groups.get(branch.tid).push(branch);
  }
  return groups;
}

const functions = (name) => json(["functions", "--json", ...symfs(name), recording(name)]);
const instructions = (answer, tid) => answer.recording.thread_list.find((thread) => thread.tid === tid)?.instructions;
const named = (answer, name) => answer.functions.filter((row) => row.name === name || row.name.startsWith(`${name}(`));

for (const name of readdirSync(noTraces ? "." : traces).filter((each) => !noTraces && existsSync(recording(each)))) {
  test(`${name}: libipt's instruction decoder emits the same branches`, () => {
    const verdict = json(["verify", "--json", ...symfs(name), recording(name)]);
    assert.equal(verdict.difference, null);
    assert.ok(verdict.pieces > 0);
    if (name.startsWith("lldb-")) assert.ok(verdict.compared + verdict.unjudged >= perfBranches(name).filter(({ kinds }) => kinds[0] !== "gap").length);
  });
}

test("lldb-main: 21 instructions in a main that had begun before", { skip: noTraces }, () => {
  const answer = functions("lldb-main");
  assert.equal(instructions(answer, 3842849), 21);
  assert.equal(answer.recording.decode_errors, 0);
  const [main, ...others] = named(answer, "main");
  assert.equal(others.length, 0);
  assert.deepEqual([main.complete, main.incomplete, main.unwound], [0, 1, 0]);
});

test("lldb-multi-file: main, foo and bar, with PLT stubs folded and the missing linker a gap", { skip: noTraces }, () => {
  const answer = functions("lldb-multi-file");
  // A decoder that waits for the next PSB after each gap sees 45 of these.
  const listed = readFileSync(path.join(traces, "lldb-multi-file/truth/perf-instructions.txt"), "utf8");
  assert.equal(instructions(answer, 815455), listed.split("\n").filter((line) => line && !line.includes("error")).length);
  for (const [name, binary] of [["foo", "libfoo.so"], ["bar", "libbar.so"]]) {
    const rows = named(answer, name);
    assert.equal(rows.length, 1, name);
    assert.ok(rows[0].binary.endsWith(binary), rows[0].binary);
    assert.equal(rows[0].complete, 1, `${name}: the second round was seen whole`);
    assert.ok(rows[0].incomplete >= 1, `${name}: the first round went through the missing linker`);
  }
  const [main] = named(answer, "main");
  assert.equal(main.complete, 0);
  assert.ok(main.incomplete >= 1);
  assert.deepEqual(answer.functions.filter((row) => row.name.includes("@plt")), []);
  assert.ok(answer.recording.gaps >= 2);

  const report = json(["report", "--json", "--function", "foo", ...symfs("lldb-multi-file"), recording("lldb-multi-file")]);
  const bar = report.children.find((row) => row.name === "bar" || row.name.startsWith("bar("));
  assert.equal(bar.calls, 1);
  assert.equal(bar.call_site, "0x6e8", "the call instruction in foo, as objdump prints it");
});

test("lldb-multi-core: each thread's instructions, without what other processes ran", { skip: noTraces }, () => {
  const answer = functions("lldb-multi-core");
  assert.equal(instructions(answer, 3497497), 61_825);
  assert.equal(instructions(answer, 3497496), 19_521);
  for (const name of ["foo", "bar"]) {
    const [row] = named(answer, name);
    assert.deepEqual([row.complete, row.incomplete], [0, 1], name);
  }
});

test("quipper-hello-world: every missing binary is named with the build-id that perf knows", { skip: noTraces || noPerf }, () => {
  const file = recording("quipper-hello-world");
  const known = output("perf", ["buildid-list", "-f", "-i", file])
    .split("\n").map((line) => line.trim().split(" ")).filter(([id, name]) => id && name);
  const mapped = new Set(
    readFileSync(path.join(traces, "quipper-hello-world/truth/perf-mmaps.txt"), "utf8")
      .split("\n").filter((line) => !/ -1\/0: /.test(line)).map((line) => line.split(" ").at(-1)),
  );
  const wanted = known.filter(([, name]) => name.startsWith("/") && mapped.has(name));
  assert.ok(wanted.length > 0);
  const { recording: info } = json(["functions", "--json", file]);
  for (const [id, name] of wanted) {
    assert.equal(info.missing.find(({ path: missing }) => missing === name)?.build_id, id, name);
  }
  assert.equal(info.trace_bytes, 12_240 + 137_728, "the AUX bytes of CPU 0 and CPU 3");
});
