// What could be measured: processes and threads as the kernel has them.
import assert from "node:assert/strict";
import { copyFileSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, json, orderServer, ptlens, root, temporaryFolder, until } from "./support.mjs";

test("processes built from a source come first, with their threads", async (t) => {
  const server = background(t, orderServer, ["--threads", "3", "--rate", "0"]);
  await until("the order server runs", () => server.text.stdout.includes("threads"));
  const pid = server.child.pid;
  const { processes } = json(["processes", "--json", "--source", path.join(root, "extension/sample/order_server.cpp")]);
  const found = processes.find((each) => each.pid === pid);
  assert.deepEqual([found.has_source, found.container, found.threads, found.executable], [true, false, 3, orderServer]);
  await until("its share of CPU is seen", () => json(["processes", "--json"]).processes.find((each) => each.pid === pid).cpu_percent > 0);
  assert.ok(processes.findIndex(({ has_source: has }) => !has) >= processes.filter(({ has_source: has }) => has).length);
  const { threads } = json(["processes", "--json", "--pid", String(pid)]);
  assert.deepEqual(threads.map(({ tid }) => tid).sort(), readdirSync(`/proc/${pid}/task`).map(Number).sort());
  assert.ok(threads.every(({ name }) => name === "order_server"));
});

test("in text, a line each", () => {
  const { status, stdout } = ptlens(["processes"]);
  assert.equal(status, 0);
  assert.match(stdout, /^ *pid +user/);
  assert.ok(stdout.split("\n").some((line) => line.trim().startsWith(String(process.pid))));
  assert.equal(ptlens(["processes", "--pid", "4194304"]).status, 1);
});

test("a program whose file was replaced is known by the code that it runs", { skip: process.getuid() === 0 ? false : "reading map_files needs root" }, async (t) => {
  const program = path.join(temporaryFolder(t), "server");
  copyFileSync(orderServer, program);
  const server = background(t, program, ["--threads", "1", "--rate", "0"]);
  await until("it runs", () => server.text.stdout.includes("threads"));
  const look = () => json(["processes", "--json", "--source", path.join(root, "extension/sample/order_server.cpp")]).processes.find(({ pid }) => pid === server.child.pid);
  assert.deepEqual([look().has_source, look().rebuilt], [true, false]);
  rmSync(program);
  copyFileSync("/bin/true", program);
  assert.deepEqual([look().has_source, look().rebuilt], [true, true]);
});
