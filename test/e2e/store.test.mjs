// The calls of a recording are decoded once and kept: what is kept is used while everything it depends on
// is as it was, and never shows through in an answer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, helper, orderServer, output, ptlens, simulator, temporaryFolder } from "./support.mjs";

const libc = "/lib/x86_64-linux-gnu/libc.so.6";
const why = existsSync(simulator) && existsSync(libc) ? false : "ptsim or the C library is not here";

// A recording in a folder of its own, with a copy of the program that it is of.
function make(t, size = 20_000) {
  const folder = temporaryFolder(t);
  const program = path.join(folder, "order_server");
  copyFileSync(orderServer, program);
  chmodSync(program, 0o755);
  const file = path.join(folder, "perf.data");
  output(simulator, ["synth", "-o", file, "--truth", path.join(folder, "truth"), "--seed", "7", ...(Array.isArray(size) ? size : ["--calls", String(size)]), "--threads", "2", "--cyc", program, libc]);
  const environment = { ...process.env, XDG_CACHE_HOME: path.join(folder, "cache") };
  delete environment.PTLENS_STORE;
  const options = { env: environment };
  const ask = (args) => output(helper, args, options);
  return { folder, program, file, options, ask, store: `${file}.calls`, status: () => JSON.parse(ask(["store", file, "--json"])) };
}

const stamp = (file) => {
  const { ino, mtimeNs } = statSync(file, { bigint: true });
  return `${ino} ${mtimeNs}`;
};

// The functions with most calls, as --function takes them.
const busiest = ({ ask, file }, count) =>
  JSON.parse(ask(["functions", file, "--json"]))
    .functions.sort((one, other) => other.complete - one.complete)
    .slice(0, count)
    .map((row) => `${row.name}@${row.address}`);

test("every command answers from what is kept as it does from a decode", { skip: why }, (t) => {
  const made = make(t);
  const names = busiest(made, 4);
  const first = stamp(made.store);
  const source = JSON.parse(made.ask(["functions", made.file, "--json"])).functions.find((row) => row.file)?.file;
  const questions = [
    ["functions"], ["functions", "--json"], ["flame"], ["flame", "--off"], ["flame", "--format", "json"],
    ...(source ? [["lines", "--file", source, "--json"]] : []),
    ...names.flatMap((name) => [
      ["report", "--function", name, "--json"],
      ["report", "--function", name, "--latency", "100,5000", "--json"],
      ["report", "--function", name, "--ancestor", names[0], "--json"],
      ["calls", "--function", name],
      ["calls", "--function", name, "--csv", "--time", "0,1ms"],
      ["flame", "--function", name],
      ["flame", "--function", name, "--ancestor", names[1], "--on"],
    ]),
  ];
  for (const [command, ...rest] of questions) {
    const kept = made.ask([command, made.file, ...rest]);
    assert.equal(kept, made.ask([command, made.file, ...rest, "--no-store"]), `${command} ${rest.join(" ")}`);
  }
  assert.equal(stamp(made.store), first, "was written once");
  assert.deepEqual(readdirSync(made.folder).filter((name) => name.endsWith(".tmp")), []);
});

test("--no-store keeps nothing", { skip: why }, (t) => {
  const made = make(t, 2000);
  made.ask(["functions", made.file, "--no-store"]);
  assert.equal(made.status().exists, false);
  assert.equal(existsSync(made.store), false);
});


test("a change of the recording, a binary or the options rebuilds it", { skip: why }, (t) => {
  const made = make(t, 2000);
  const functions = () => made.ask(["functions", made.file, "--json"]);
  const before = functions();
  let last = stamp(made.store);
  const isMadeAnew = (what) => {
    assert.equal(made.status().valid, false, what);
    const after = functions();
    assert.equal(made.status().valid, true, what);
    assert.notEqual(stamp(made.store), last, what);
    last = stamp(made.store);
    return after;
  };
  utimesSync(made.file, new Date(), new Date(2001, 1, 1));
  assert.equal(isMadeAnew("the recording was touched"), before);
  utimesSync(made.program, new Date(), new Date(2001, 1, 1));
  assert.equal(isMadeAnew("the binary was touched"), before);
  const symfs = path.join(made.folder, "symfs");
  mkdirSync(symfs);
  made.ask(["functions", made.file, "--symfs", symfs]);
  assert.equal(stamp(made.store), last, "other options have their own");
  assert.equal(readdirSync(made.folder).filter((name) => name.endsWith(".calls")).length, 2);
  copyFileSync("/bin/true", made.program); // another build-id: the code is missing now
  const missing = JSON.parse(isMadeAnew("the binary was replaced"));
  assert.ok(missing.recording.missing.some((code) => code.path === made.program), "it is missing");
  copyFileSync(orderServer, made.program);
  assert.equal(JSON.stringify(JSON.parse(isMadeAnew("it came back")).functions), JSON.stringify(JSON.parse(before).functions));
});

test("a damaged one is rebuilt silently", { skip: why }, (t) => {
  const made = make(t, 2000);
  const [name] = busiest(made, 1);
  const questions = [["functions", made.file, "--json"], ["report", made.file, "--function", name, "--json"], ["flame", made.file]];
  const before = questions.map(made.ask);
  const whole = readFileSync(made.store);
  for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
    const damaged = Buffer.from(whole);
    damaged[at] ^= 0x10;
    writeFileSync(made.store, at % 2 ? damaged : damaged.subarray(0, at));
    assert.deepEqual(questions.map(made.ask), before, `byte ${at}`);
    assert.equal(made.status().valid, true, `byte ${at}`);
  }
  appendFileSync(made.store, "more");
  assert.deepEqual(questions.map(made.ask), before);
});

test("it is removed by command, whatever its options", { skip: why }, (t) => {
  const made = make(t, 2000);
  made.ask(["functions", made.file]);
  made.ask(["functions", made.file, "--decoder", "libipt"]);
  writeFileSync(`${made.store}.1-1.tmp`, "left behind");
  const { removed } = JSON.parse(made.ask(["store", made.file, "--remove", "--json"]));
  assert.equal(removed.length, 3);
  assert.deepEqual(readdirSync(made.folder).filter((name) => name.includes(".calls")), []);
  assert.ok(existsSync(made.file));
});

test("debug information that was read once is kept for other recordings, and read again where it is damaged", { skip: why }, (t) => {
  const made = make(t, 2000);
  const functions = () => made.ask(["functions", made.file, "--json", "--no-cache"]);
  const folder = path.join(made.folder, "cache", "ptlens", "symbols");
  const before = functions();
  if (!existsSync(folder)) {
    t.skip("the C library has no debug information here");
    return;
  }
  const kept = readdirSync(folder).map((name) => path.join(folder, name));
  assert.ok(kept.length > 0);
  const whole = kept.map((file) => readFileSync(file));
  assert.equal(functions(), before);
  assert.deepEqual(kept.map((file) => readFileSync(file)), whole, "they are used, not written again");
  for (const file of kept) {
    assert.equal(statSync(file).mode & 0o077, 0, "nobody else can read them");
    writeFileSync(file, readFileSync(file).subarray(0, 1000));
  }
  assert.equal(functions(), before);
  assert.deepEqual(kept.map((file) => readFileSync(file)), whole, "damaged ones are written again");
  utimesSync(made.program, new Date(), new Date(2001, 1, 1));
  copyFileSync("/bin/true", made.program);
  assert.notEqual(functions(), before, "a program that was replaced has other functions");
});

test("two at the same time both answer, and leave one whole", { skip: why }, async (t) => {
  const made = make(t, 50_000);
  const both = [1, 2].map(() => background(t, helper, ["functions", made.file, "--json"], made.options).closed);
  const [one, other] = await Promise.all(both);
  assert.equal(one.status, 0, one.stderr);
  assert.equal(one.stdout, other.stdout);
  assert.equal(made.status().valid, true);
  assert.deepEqual(readdirSync(made.folder).filter((name) => name.endsWith(".tmp")), []);
});

test("one that is killed leaves at most a temporary, which the next removes", { skip: why }, async (t) => {
  const made = make(t, 50_000);
  for (const wait of [50, 150, 300]) {
    const { child, closed } = background(t, helper, ["functions", made.file], made.options);
    setTimeout(() => child.kill("SIGKILL"), wait);
    await closed;
    const { exists, valid } = made.status();
    assert.ok(!exists || valid, "none or a whole one");
  }
  made.ask(["functions", made.file]);
  assert.deepEqual(readdirSync(made.folder).filter((name) => name.endsWith(".tmp")), []);
});

const nobody = 65534;
const noNobody = process.getuid() === 0 && spawnSync("setpriv", ["--version"]).status === 0 ? why : "taking away rights needs root and setpriv";

test("where the folder cannot be written, the cache folder is used", { skip: noNobody }, (t) => {
  const made = make(t, 2000);
  const cache = path.join(made.folder, "cache");
  mkdirSync(cache);
  chmodSync(cache, 0o777);
  chmodSync(made.folder, 0o755);
  chmodSync(made.file, 0o644);
  const asNobody = (args, environment = {}) => {
    const result = spawnSync("setpriv", ["--reuid", String(nobody), "--regid", String(nobody), "--clear-groups", helper, ...args],
      { encoding: "utf8", env: { ...made.options.env, ...environment } });
    assert.equal(result.status, 0, result.stderr);
    return result.stdout;
  };
  const before = asNobody(["functions", made.file]);
  assert.equal(existsSync(made.store), false);
  const status = JSON.parse(asNobody(["store", made.file, "--json"]));
  assert.equal(status.valid, true);
  assert.ok(status.path.startsWith(path.join(cache, "ptlens/")), status.path);
  assert.equal(asNobody(["functions", made.file]), before);
  // With no place at all the answer is the same.
  assert.equal(asNobody(["functions", made.file, "--json"], { XDG_CACHE_HOME: "/proc/nowhere" }).length > 0, true);
});

test("the server answers from what the command line kept", { skip: why }, (t) => {
  const made = make(t, 2000);
  made.ask(["functions", made.file]);
  const before = stamp(made.store);
  const message = (body) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const call = (id, method, params) => message(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  const input = [
    call(1, "initialize", { processId: null, rootUri: null, capabilities: {} }),
    message(JSON.stringify({ jsonrpc: "2.0", method: "initialized", params: {} })),
    call(2, "ptlens/open", { path: made.file }),
  ].join("");
  const { stdout } = ptlens(["serve"], { ...made.options, input });
  assert.match(stdout, /"id":2/);
  assert.equal(stamp(made.store), before);
});

test("a million calls take at most 24 bytes each", { skip: why }, (t) => {
  const made = make(t, ["--bytes", "16M", "--style", "call-heavy"]);
  made.ask(["functions", made.file]);
  const { valid, calls, bytes, bytes_a_call: each } = made.status();
  assert.equal(valid, true);
  assert.ok(calls >= 1_000_000, `${calls} calls`);
  assert.equal(bytes, statSync(made.store).size);
  assert.ok(each <= 24, `${each} bytes a call`);
  t.diagnostic(`${calls} calls, ${each.toFixed(1)} bytes each`);
});
