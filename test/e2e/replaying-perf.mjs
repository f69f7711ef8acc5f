#!/usr/bin/env node
// Acts as `perf record`: writes a recording that exists, in the order and at the pace in which perf would have written it.
// PTLENS_REPLAY: the recording; PTLENS_REPLAY_S: the seconds that it takes (1); PTLENS_REPLAY_CUT: bytes of each write, so
// that records are cut anywhere (by default 64 writes of equal size). The header says until the end that perf has not finished.
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import net from "node:net";

const dataSize = 48; // in the header: size of the data section, then a section, then the bits of the features
const features = 72;

const words = process.argv.slice(2);
if (words.includes("-h")) process.exit(0);
const after = (option) => words[words.indexOf(option) + 1];
const [command, answer] = after("--control").slice("fd:".length).split(",").map(Number);
const whole = readFileSync(process.env.PTLENS_REPLAY);
const duration = Number(process.env.PTLENS_REPLAY_S ?? 1) * 1000;
const cut = Number(process.env.PTLENS_REPLAY_CUT ?? 0) || Math.ceil(whole.length / 64);
const begin = Number(whole.readBigUInt64LE(dataSize - 8));
const end = begin + Number(whole.readBigUInt64LE(dataSize));
const file = openSync(after("-o"), "w");

const unfinished = Buffer.from(whole.subarray(0, begin));
unfinished.fill(0, dataSize, dataSize + 8);
unfinished.fill(0, features, 104);
let at = begin;
let timer;
const put = (until) => {
  for (; at < until; at = Math.min(at + cut, until)) writeSync(file, whole, at, Math.min(cut, until - at), at);
};

function finish() {
  clearInterval(timer);
  put(end);
  writeSync(file, whole, end, whole.length - end, end);
  writeSync(file, whole, 0, begin, 0);
  closeSync(file);
  process.exit(0);
}

writeSync(file, unfinished, 0, begin, 0);
const acknowledge = new net.Socket({ fd: answer });
const commands = new net.Socket({ fd: command });
commands.setEncoding("utf8").on("data", (text) => {
  for (const line of text.split("\n").filter(Boolean)) {
    if (line === "enable") {
      const started = Date.now();
      timer = setInterval(() => put(begin + Math.floor((end - begin) * Math.min(1, (Date.now() - started) / duration))), 10);
    }
    acknowledge.write("ack\n");
    if (line === "stop") finish();
  }
});
process.on("SIGTERM", finish);
