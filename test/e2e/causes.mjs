// Programs whose slow calls have a known cause (test/samples/causes), and what the answer must say for each. The program
// says which of its calls were slow and why; the tests take that, and the list of calls, as the truth. Other processes may
// lengthen calls, so that bounds are generous and latencies far above those of the known slow calls are left out.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { helper, json, jsonLines, output, root } from "./support.mjs";

function build(folder) {
  const program = path.join(folder, "causes");
  output("gcc", ["-g", "-O1", "-Wall", "-Wextra", "-pthread", "-o", program, path.join(root, "test/samples/causes/causes.c")]);
  return program;
}

// Records one cause; returns the program's own numbers of slow calls and the calls in order of time.
export function record(folder, cause, { calls, every, scale }, command) {
  const program = build(folder);
  const recording = path.join(folder, "recording");
  const truth = path.join(folder, "truth.json");
  output(...command(recording, [program, cause, String(calls), String(every), String(scale), path.join(folder, "data"), truth]));
  const { slow } = JSON.parse(readFileSync(truth, "utf8"));
  const list = jsonLines(output(helper, ["calls", "--json-lines", "--function", "work", recording])).sort((one, other) => one.start - other.start);
  assert.equal(list.length, calls);
  return { recording, slow, list };
}

export const quantile = (values, share) => [...values].sort((one, other) => one - other)[Math.floor(share * values.length)];

// Explains the calls whose latency is like that of the slow ones that the program names; of the slowest where it names none.
export function explain({ recording, slow, list }) {
  const known = slow.filter((kind) => kind.length > 0).map((kind) => kind.map((number) => list[number].latency));
  const low = Math.min(...known.map((latencies) => 0.9 * quantile(latencies, 0.1)));
  const high = Math.max(...known.map((latencies) => 10 * quantile(latencies, 0.9)));
  const range = known.length > 0 ? ["--slow", `${Math.round(low)},${Math.round(high)}`] : [];
  return json(["explain", recording, "--function", "work", "--json", ...range]).explain;
}

const expectNear = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-9, `${value}, not ${expected}`);
const isCall = (name) => (component) => component.kind === "child" && component.function === name;
const sum = (components, of) => components.filter(of).reduce((all, { share }) => all + share, 0);

function expectShare(answer, name, least) {
  const share = sum(answer.components, isCall(name));
  assert.ok(share > least, `${name} explains ${share} of the gap: ${answer.sentence}`);
  assert.ok(answer.sentence.includes(name) || answer.components.find(isCall(name)).path.length > 0, answer.sentence);
}

function expectCalls(answer, known) {
  assert.ok(answer.slow.calls >= 0.7 * known && answer.slow.calls <= 1.3 * known + 5, `${answer.slow.calls} slow calls, ${known} known`);
}

const endOf = (answer, name) => answer.components.find(isCall(name)).path.at(-1);

// Each cause: what the answer must say, whoever recorded it.
export const expected = {
  lock(answer, { slow }) {
    expectCalls(answer, slow[0].length);
    expectShare(answer, "lock_table", 0.6);
    assert.equal(endOf(answer, "lock_table").kind, "blocked");
    assert.match(answer.sentence, /pthread_mutex_lock|lock_table/);
  },
  count(answer, { slow }, { scale }) {
    expectCalls(answer, slow[0].length);
    expectShare(answer, "lookup", 0.6);
    const lookup = answer.components.find(isCall("lookup"));
    expectNear(lookup.typical_count, 10);
    assert.ok(lookup.slow_count > 0.7 * 10 * scale && lookup.slow_count <= 10 * scale + 1e-9);
    assert.match(answer.sentence, /`lookup`.* ran .* times instead of 10 times/);
  },
  branch(answer, { slow }) {
    expectCalls(answer, slow[0].length);
    expectShare(answer, "pay_parts", 0.6);
    expectNear(answer.components.find(isCall("pay_parts")).typical_count, 1);
    assert.match(answer.sentence, /the instructions of `pay_parts`.* take longer/);
  },
  fsync(answer, { slow }) {
    expectCalls(answer, slow[0].length);
    expectShare(answer, "write_log", 0.6);
    const log = answer.components.find(isCall("write_log"));
    assert.equal(log.typical_presence, 0);
    assert.ok(log.slow_presence >= 0.7 * slow[0].length);
    assert.equal(log.path.at(-1).kind, "blocked");
    assert.match(answer.sentence, /they call `write_log`.*, which typical calls do not, and it is (likely )?waiting for the disk/);
  },
  fault(answer, { slow }) {
    expectCalls(answer, slow[0].length);
    expectShare(answer, "read_pages", 0.6);
    expectNear(answer.components.find(isCall("read_pages")).typical_count, 1);
  },
  mmap(answer, { slow }) {
    expectCalls(answer, slow[0].length);
    expectShare(answer, "make_buffer", 0.6);
    assert.equal(answer.components.find(isCall("make_buffer")).typical_presence, 0);
    assert.match(answer.sentence, /they call `make_buffer`.*, which typical calls do not/);
  },
  preempted(answer) {
    const end = [...answer.components].sort((one, other) => other.share - one.share)[0];
    assert.equal((end.path.at(-1) ?? end).kind, "preempted");
    assert.match(answer.sentence, /another thread has the processor/);
  },
  two(answer, { slow, list }) {
    const kind = (component) => answer.kinds.filter((each) => answer.components[each.component].function === component);
    for (const [name, known] of [["lookup", slow[0]], ["write_log", slow[1]]]) {
      const calls = kind(name).reduce((all, each) => all + each.calls, 0);
      assert.ok(calls >= 0.7 * known.length && calls <= 1.3 * known.length + 5, `${name}: ${calls} calls, ${known.length} known`);
      const members = new Set(known.map((number) => `${list[number].tid}:${list[number].start}`));
      for (const { example } of kind(name)) assert.ok(members.has(`${example.tid}:${example.start}`), `${name}: its example is a call of that kind`);
    }
  },
  cold(answer, { slow }) {
    expectCalls(answer, slow[0].length);
    expectShare(answer, "pay_parts", 0.6);
    assert.match(answer.kinds[0].predicate, /^started in the first /);
  },
};
