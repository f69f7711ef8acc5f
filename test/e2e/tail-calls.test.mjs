// A line whose call ended in a tail call names the function that it ended in. The program says so: price() jumps to
// add_tax(), order() calls price().
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { background, helper, json, output, rpc, simulator, temporaryFolder } from "./support.mjs";

const skip = existsSync(simulator) ? false : `${simulator} is not built`;

const source = `volatile int sum;
__attribute__((noinline)) int add_tax(int n) { for (int i = 0; i < n; i++) sum += i; return sum; }
__attribute__((noinline)) int price(int n) {
  sum += 2;
  return add_tax(n);
}
__attribute__((noinline)) int order(int n) {
  int a = price(n);
  sum++;
  return a + 1;
}
int main(void) { for (int i = 0; i < 10; i++) sum += order(50); return sum == 7; }
`;
const lineOf = (text) => source.split("\n").findIndex((line) => line.includes(text)) + 1;

test("tail-called functions are named on their line", { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const [file, program, recording] = ["tail.c", "tail", "perf.data"].map((name) => path.join(folder, name));
  writeFileSync(file, source);
  output("gcc", ["-g", "-O2", "-o", program, file]);
  output(simulator, ["record", "-e", "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=1/u", "--start-at", "main", "-o", recording, "--", program]);

  const { lines } = json(["lines", "--json", "--file", "tail.c", recording]);
  const callee = (text) => lines.find(({ line }) => line === lineOf(text)).callees[0];
  assert.deepEqual([callee("return add_tax(n)").name, callee("return add_tax(n)").tail_call], ["add_tax", true]);
  assert.deepEqual([callee("= price(n)").name, callee("= price(n)").tail_call], ["price", undefined]);
  assert.deepEqual(callee("= price(n)").tail_callees.map(({ name }) => name), ["add_tax"]);
  assert.deepEqual([callee("order(50)").tail_call, callee("order(50)").tail_callees], [undefined, undefined]);
  const text = output(helper, ["lines", "--file", "tail.c", recording]);
  assert.match(text, /^ +5 .* → add_tax \(tail call\)$/m);
  assert.match(text, /^ +8 .* price → add_tax \(tail call\)$/m);

  const ask = rpc(background(t, helper, ["serve", "--stdio"]));
  await ask("initialize", { processId: null, rootUri: null, capabilities: {} });
  await ask("ptlens/open", { path: recording });
  ask.notify("textDocument/didOpen", { textDocument: { uri: `file://${file}`, languageId: "c", version: 1, text: source } });
  const annotated = (await ask("ptlens/annotations", { file })).lines;
  const textAt = (line) => annotated.find((each) => each.line === line).text;
  assert.match(textAt(lineOf("return add_tax(n)")), / · → add_tax \(tail call\)$/);
  assert.match(textAt(lineOf("= price(n)")), / · price → add_tax \(tail call\)$/);
  assert.doesNotMatch(textAt(lineOf("order(50)")), /tail call/);
});
