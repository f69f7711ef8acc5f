// Programs that know their own latencies (test/samples/live), measured live with probes and with uftrace: are all calls
// complete, and do they rank as by the programs' own clocks?
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { compile, compiled } from "../samples/live/samples.mjs";
import { alone, engines, measured } from "./live-programs.mjs";
import { helper, output, temporaryFolder } from "./support.mjs";

const ranked = (functions) => Object.entries(functions).sort(([, one], [, other]) => other - one).map(([name]) => name);

/** Checks a mean against the caller's clock. That clock includes the probes' time, the figure does not. */
function agrees({ mean, uncertainty }, truth, share) {
  assert.ok(Math.abs(mean - truth.mean) <= 3 * uncertainty.mean + share * truth.mean, `${mean} ± ${uncertainty.mean} ns, its own clock says ${truth.mean} ns`);
}

for (const engine of engines) {
  describe(`with ${engine.backend}`, { skip: engine.skip }, () => {
    test("matrix multiplication before and after transposing: complete calls though a tail call ends them, and the faster one is faster", (t) => {
      const names = ["multiply", "multiply_transposed"];
      const disassembly = output("objdump", ["-d", "--no-show-raw-insn", compile("matrix", compiled)]);
      assert.match(disassembly, /<_Z19multiply_transposed[^>]*>:(?:\n.+)*jmp .*<_ZdaPv@plt>/, "the sample's buffer is freed by a tail call");
      const both = names.map((name) => measured(t, engine, "matrix", name));
      both.forEach(({ shown, truth }) => agrees(shown, truth, 0.02));
      assert.ok(both[0].truth.p50 > both[1].truth.p50, "transposing pays, says the program");
      assert.ok(both[0].shown.p50 > both[1].shown.p50, "and so does the report");
    });

    test("four ways to count words rank as by the program's own clock", (t) => {
      const truth = alone(t, "words", []);
      const ways = Object.keys(truth.functions);
      assert.equal(ways.length, 4);
      const shown = ways.map((name) => [name, measured(t, engine, "words", name, ["--rounds", String(engine.rounds)]).shown.p50]);
      assert.deepEqual(ranked(Object.fromEntries(shown)), ranked(Object.fromEntries(ways.map((name) => [name, truth.functions[name].p50]))));
    });

    test("a file is copied faster through a larger buffer", (t) => {
      const both = ["512", "65536"].map((size) => measured(t, engine, "copy", "copy_file", ["--buffer", size]));
      assert.ok(both[0].truth.p50 > both[1].truth.p50, "the program's own clock");
      assert.ok(both[0].shown.p50 > both[1].shown.p50);
      both.forEach(({ shown, truth }) => assert.ok(shown.mean <= truth.mean + 3 * shown.uncertainty.mean, "no longer than the program says"));
    });
  });
}

describe("with uftrace alone", { skip: engines[1].skip }, () => {
  test("each of 20,000 calls of a function of 0.15 µs is counted", (t) => {
    const { shown, truth } = measured(t, engines[1], "loop", "hash_key", ["--calls", "20000"]);
    assert.ok(Math.abs(shown.p50 - truth.p50) <= 3 * shown.uncertainty.p50 + truth.p50, `p50 ${shown.p50} ± ${shown.uncertainty.p50} ns, its own clock says ${truth.p50} ns`);
  });

  test("a function that uftrace cannot patch is named", (t) => {
    const recording = path.join(temporaryFolder(t), "recording");
    output(helper, ["record", "--backend", "uftrace", "--function", "count_by_stream", "-o", recording, "--", compile("words", compiled), "--rounds", "1"]);
    const { notes } = JSON.parse(readFileSync(path.join(recording, "manifest.json"), "utf8"));
    assert.ok(notes.some(({ code, text }) => code === "wanted_function_without_hook" && text.includes("count_by_stream")), JSON.stringify(notes));
  });
});
