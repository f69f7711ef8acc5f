// What a user does after a measurement: measure again after a rebuild, another function, a callee, and a function that is not
// called. The program is built by the test.
import { strict as assert } from "node:assert";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import * as vscode from "vscode";
import type { FunctionRef } from "../../../../extension/src/functions/function-selector";
import type { FunctionIdentity } from "../../../../extension/src/protocol/protocol";
import { activeApi, lenses, shownErrors, shownMessages } from "../editor";
import { helperJson, reportJson } from "../environment";

const text = `#include <unistd.h>
static volatile long sum;
#ifdef REBUILT
__attribute__((noipa)) void added(long amount) { for (long i = 0; i < amount; ++i) sum += i * 3; }
#endif
__attribute__((noipa)) void inner(long amount) { sum += amount; }
__attribute__((noipa)) void work(long amount) { inner(amount); inner(amount + 1); }
__attribute__((noipa)) void other(long amount) { sum -= amount; if (amount % 100 == 99) usleep(20000); }
__attribute__((noipa)) void quiet(long amount) { sum ^= amount; }
int main(int count, char **arguments) {
  for (long number = 0;; ++number) {
    work(number);
    other(number);
    if (count > 5) quiet(number);
#ifdef REBUILT
    added(number % 10);
#endif
    usleep(500);
  }
  return arguments == 0;
}
`;
const lineOf = (name: string): number => 1 + text.split("\n").findIndex((line) => line.includes(`void ${name}(`));

/** The argument of a lens. */
type Shown = FunctionRef & { readonly id: string };

describe("what a user does next", () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-next-"));
  const source = path.join(folder, "loop.c");
  const program = path.join(folder, "loop");
  let running: ChildProcess | undefined;
  let document: vscode.TextDocument;

  const build = (...options: string[]): string => execFileSync("gcc", ["-g", "-O1", ...options, "-o", program, source], { encoding: "utf8" });
  const addressOf = (name: string): string => {
    const line = execFileSync("nm", [program], { encoding: "utf8" }).split("\n").find((each) => each.endsWith(` ${name}`)) ?? "";
    return `0x${line.slice(0, 16).replace(/^0+/, "")}`;
  };
  const stop = async (): Promise<void> => {
    if (running?.exitCode !== null) return;
    running.kill();
    await once(running, "exit");
  };
  const start = async (): Promise<void> => {
    await stop();
    running = spawn(program, { stdio: "ignore" });
    await once(running, "spawn");
  };
  const measure = (name: string): Thenable<unknown> =>
    vscode.commands.executeCommand("ptlens.measureLatency", { pid: running?.pid, file: source, line: lineOf(name), duration: 0.3 });
  const lensesByLine = async (): Promise<Map<number, Shown>> =>
    new Map((await lenses(document.uri)).map(({ range, command }) => [range.start.line + 1, command?.arguments?.[0] as Shown]));

  before(async () => {
    const { session } = await activeApi();
    for (const { key } of session.recordings) await session.remove(key);
    writeFileSync(source, text);
    build();
    await start();
    document = await vscode.workspace.openTextDocument(source);
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  });
  after(async () => {
    await stop();
    const { session } = await activeApi();
    for (const { key } of session.recordings) await session.remove(key);
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    rmSync(folder, { recursive: true, force: true });
  });

  it("a second function keeps the figures of the first, and a lens opens its own recording", async () => {
    const { session } = await activeApi();
    assert.deepEqual(await shownErrors(() => measure("work")), []);
    const first = session.active ?? assert.fail();
    assert.deepEqual(await shownErrors(() => measure("other")), []);
    const second = session.active ?? assert.fail();
    assert.notEqual(second.path, first.path);
    const shown = await lensesByLine();
    assert.equal(shown.get(lineOf("work"))?.id, session.find(first.key)?.open?.id);
    assert.equal(shown.get(lineOf("other"))?.id, second.open?.id);
    const title = (await lenses(document.uri)).find(({ range }) => range.start.line + 1 === lineOf("work"))?.command?.title ?? "";
    assert.ok(title.includes(`${String(reportJson(first.path, "work").calls.complete).replace(/\B(?=(\d{3})+$)/g, ",")} call`), title);

    await vscode.commands.executeCommand("ptlens.showFunction", shown.get(lineOf("work")));
    assert.equal(session.active?.key, first.key, "the panel shows the recording of the lens");
    assert.equal((await lensesByLine()).get(lineOf("other"))?.id, second.open?.id, "and the other function keeps its lens");
  });

  it("Go Deeper measures a callee in the same process", async () => {
    const { session } = await activeApi();
    const { children } = reportJson(session.active?.path ?? "", "work");
    const child = children.find(({ name }) => name === "inner") ?? assert.fail("work calls inner");
    const before = session.active ?? assert.fail();
    assert.equal(before.functions[0]?.name, "work");
    assert.deepEqual(await shownErrors(() => vscode.commands.executeCommand("ptlens.goDeeper", { ...child, id: before.open?.id })), []);
    const after = session.active ?? assert.fail();
    assert.notEqual(after.path, before.path);
    assert.deepEqual(after.functions.map(({ name }) => name), ["inner"]);
    assert.equal(after.measuredWith?.pid, running?.pid);
    assert.ok(reportJson(after.path, "inner").calls.complete > 0);
  });

  it("a slow call is caught without Intel PT too, with the calls before it", async () => {
    const { session } = await activeApi();
    const slowerThan = 10_000_000;
    let errors: string[] = [];
    const messages = await shownMessages(async () => {
      errors = await shownErrors(() =>
        vscode.commands.executeCommand("ptlens.catchSlowCall", { pid: running?.pid, file: source, line: lineOf("other"), slowerThan, duration: 60 }),
      );
    });
    assert.deepEqual([...errors, ...messages], [], "the panel found the call");
    const calls = helperJson("calls", session.active?.path ?? "", "--function", "other", "--json-lines") as { latency: number; state: string }[];
    assert.ok(calls.some(({ latency, state }) => state === "complete" && latency > slowerThan));
  });

  it("a function that is not called is an answer, with an offer to measure again", async () => {
    const { session } = await activeApi();
    let errors: string[] = [];
    const messages = await shownMessages(async () => {
      errors = await shownErrors(() => measure("quiet"));
    });
    assert.deepEqual(errors, []);
    assert.equal(messages.length, 1);
    assert.match(messages[0] ?? "", /quiet was not called in \d/);
    assert.deepEqual(session.active?.functions.map(({ name }) => name), ["quiet"]);
    assert.equal(reportJson(session.active.path, "quiet").not_called, true);
  });

  it("Measure Again finds the function in a rebuilt program, at another address", async () => {
    const { session } = await activeApi();
    const item = session.recordings.find(({ functions }) => functions[0]?.name === "work") ?? assert.fail();
    const before = addressOf("work");
    assert.equal(item.measuredWith?.function?.address, before);
    build("-DREBUILT");
    assert.notEqual(addressOf("work"), before, "the function moved");
    await start();
    assert.deepEqual(await shownErrors(() => vscode.commands.executeCommand("ptlens.measureAgain", item.key)), []);
    const again = session.active ?? assert.fail();
    assert.notEqual(again.path, item.path);
    const { functions } = helperJson("functions", again.path, "--json") as { functions: (FunctionIdentity & { complete: number })[] };
    const work = functions.find(({ name }) => name === "work") ?? assert.fail("work was measured");
    assert.equal(work.address, addressOf("work"));
    assert.ok(work.complete > 0);
    assert.equal((await lensesByLine()).get(lineOf("work"))?.id, again.open?.id, "the newest of each function is shown");
  });
});
