// A recording that the server makes and shows at once has the answers of one that is decoded afterwards, and the program that is
// measured may be replaced meanwhile. How much was decoded while recording depends on the machine, so that it is not checked here.
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { background, helper, noteOf, orderServer, output, root, rpc, run, simulator, temporaryFolder, until } from "./support.mjs";

const libc = "/lib/x86_64-linux-gnu/libc.so.6";
const replayingPerf = path.join(root, "test/e2e/replaying-perf.mjs");
const why = existsSync(simulator) && existsSync(libc) ? false : "ptsim or the C library is not here";

// A made-up recording of a copy of the order server.
function make(t) {
  const folder = temporaryFolder(t);
  const program = path.join(folder, "order_server");
  copyFileSync(orderServer, program);
  chmodSync(program, 0o755);
  const file = path.join(folder, "made-up.data");
  output(simulator, ["synth", "-o", file, "--seed", "11", "--bytes", "3mb", "--threads", "2", "--cpus", "2", "--cyc", program, libc]);
  return { folder, program, file };
}

async function record(t, { folder, program, file }, cut, meanwhile = () => undefined) {
  const output = path.join(folder, "recording");
  const env = { ...process.env, PTLENS_REPLAY: file, PTLENS_REPLAY_S: "0.5", PTLENS_REPLAY_CUT: String(cut) };
  delete env.PTLENS_STORE;
  const server = background(t, helper, ["serve"], { env });
  const ask = rpc(server);
  await ask("initialize", { processId: null, capabilities: {} });
  const made = ask("ptlens/record", { program, backend: "intel_pt", perf: replayingPerf, output, workDoneToken: "r" });
  await until("it records", () => server.text.stdout.includes('"recording'));
  meanwhile();
  await until("the data are written", () => existsSync(path.join(output, "perf.data")) && readFileSync(path.join(output, "perf.data")).length > 2 << 20);
  await ask("ptlens/finish", { token: "r" });
  const { recording } = await made;
  server.child.stdin.end();
  return { recording, output };
}

const questions = (name) => [["functions", "--json"], ["report", "--function", name, "--json"], ["calls", "--function", name, "--json-lines"]];

describe("a recording that is decoded while perf writes it", { skip: why }, () => {
  for (const cut of [977, 65_537]) {
    test(`in pieces of ${cut} bytes`, async (t) => {
      const made = make(t);
      const { recording, output: folder } = await record(t, made, cut);
      assert.ok(noteOf(recording, "read_while_recording"));
      assert.ok(existsSync(path.join(folder, "perf.data.calls")));
      const env = { ...process.env };
      delete env.PTLENS_STORE;
      const ask = ([command, ...rest]) => output(helper, [command, folder, ...rest], { env });
      const [most] = JSON.parse(ask(["functions", "--json"])).functions.sort((one, other) => other.complete - one.complete);
      assert.ok(most.complete > 1000);
      for (const question of questions(`${most.name}@${most.address}`)) {
        assert.equal(ask(question), ask([...question, "--no-store"]), question.join(" "));
      }
    });
  }

  test("of a program that is replaced meanwhile", async (t) => {
    const made = make(t);
    const other = path.join(made.folder, "other");
    copyFileSync("/bin/true", other);
    const { recording, output: folder } = await record(t, made, 65_537, () => renameSync(other, made.program));
    const afterwards = JSON.parse(output(helper, ["functions", folder, "--json", "--no-store"])).recording;
    assert.deepEqual(recording.missing, afterwards.missing);
  });
});

test("the stand-in for perf writes what it was given", { skip: why }, async (t) => {
  const { output: folder } = await record(t, make(t), 4099);
  assert.equal(run("cmp", [path.join(folder, "perf.data"), path.join(folder, "../made-up.data")]).status, 0);
});
