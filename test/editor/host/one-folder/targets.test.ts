// Finding the function and the target in the real editor.
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import { candidateItems, inlinedItems } from "../../../../extension/src/functions/function-picker";
import type { FoundFunction, Process } from "../../../../extension/src/protocol/protocol";
import { cursorLocation } from "../../../../extension/src/source/cursor-location";
import { targetItems } from "../../../../extension/src/targets/target-picker";
import { workspacePrograms } from "../../../../extension/src/targets/workspace-programs";
import { activeApi, shownErrors } from "../editor";
import { environment, reportJson } from "../environment";

const source = environment("PTLENS_TEST_SOURCE");
const measured = environment("PTLENS_TEST_FUNCTION");

async function cursorOn(word: string, offset = 0): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(source);
  const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  const at = document.getText().indexOf(word);
  assert.ok(at >= 0, word);
  const position = document.positionAt(at + offset);
  editor.selection = new vscode.Selection(position, position);
  return document;
}

/** Runs `work` with a symbol provider. */
async function withSymbols(provide: (document: vscode.TextDocument) => vscode.ProviderResult<vscode.DocumentSymbol[]>, work: () => Promise<void>): Promise<void> {
  const registered = vscode.languages.registerDocumentSymbolProvider({ language: "cpp", scheme: "file" }, { provideDocumentSymbols: provide });
  try {
    await work();
  } finally {
    registered.dispose();
  }
}

describe("the location of the cursor", () => {
  const definition = `${measured}(`;

  it("is the line, and the name of the function that is called or declared there", async () => {
    const document = await cursorOn(definition, 2);
    const location = await cursorLocation();
    assert.deepEqual([location?.file, location?.name], [source, measured]);
    assert.equal(location?.line, document.positionAt(document.getText().indexOf(definition)).line + 1);
  });

  it("knows the function around it from the language server", async () => {
    const document = await cursorOn(definition);
    const { line } = document.positionAt(document.getText().indexOf(definition));
    const range = new vscode.Range(line, 0, line + 5, 0);
    const inner = new vscode.DocumentSymbol(`${measured}(std::uint64_t)`, "", vscode.SymbolKind.Function, range, new vscode.Range(line, 0, line, 200));
    const outer = new vscode.DocumentSymbol("shop", "", vscode.SymbolKind.Namespace, new vscode.Range(0, 0, line + 50, 0), new vscode.Range(0, 0, 0, 4));
    outer.children = [inner];
    await withSymbols(() => [outer], async () => {
      await vscode.commands.executeCommand("cursorMove", { to: "down", by: "line", value: 2 });
      const location = await cursorLocation();
      assert.deepEqual([location?.symbol, location?.symbolLine], [`shop::${measured}`, line + 1]);
    });
  });

  it("does not wait for a language server that never answers", async () => {
    await cursorOn(definition, 2);
    await withSymbols(() => new Promise(() => undefined), async () => {
      const location = await cursorLocation();
      assert.deepEqual([location?.name, location?.symbol], [measured, ""]);
    });
  });

  it("is enough to measure", async () => {
    await cursorOn(definition, 2);
    const pid = Number(environment("PTLENS_TEST_PID"));
    assert.deepEqual(await shownErrors(() => vscode.commands.executeCommand("ptlens.measureLatency", { pid, duration: 1 })), []);
    const { session } = await activeApi();
    assert.ok(session.recording !== undefined);
    assert.ok(reportJson(session.recording.path, measured).calls.complete > 0);
    await vscode.commands.executeCommand("ptlens.clear");
  });
});

const found = (name: string, spelling: string, address: string): FoundFunction => ({ name, spelling, binary: "/bin/shop", address, file: "/src/a.cpp", line: 3, linkage_name: "", build_id: "" });

describe("the function picker", () => {
  it("offers the instances of a template together and each", () => {
    const items = candidateItems([found("largest<int>(int)", "largest", "0x10"), found("largest<char>(char)", "largest", "0x20")]);
    assert.deepEqual(items.map(({ selector }) => selector), [
      { name: "largest", all: true, binary: "/bin/shop" },
      { name: "largest<int>(int)", binary: "/bin/shop", address: "0x10" },
      { name: "largest<char>(char)", binary: "/bin/shop", address: "0x20" },
    ]);
  });
  it("does not mix a lambda with the function around it", () => {
    const items = candidateItems([found("f()::{lambda()#1}::operator()()", "f::{lambda()#1}::operator()", "0x10"), found("f()", "f", "0x20")]);
    assert.ok(items.every(({ selector }) => selector?.all === undefined));
  });
  it("offers the callers of a function that was inlined everywhere, and to count its executions", () => {
    const items = inlinedItems({ name: "mix(int)", places: 2, holders: [found("stirs(int)", "stirs", "0x10")] }, []);
    assert.deepEqual(items.flatMap(({ selector }) => (selector === undefined ? [] : [selector.name])), ["stirs(int)", "mix(int)"]);
  });
});

describe("the target picker", () => {
  const process = (pid: number, more: Partial<Process>): Process => ({
    pid, start_time: 1, user: "me", name: `p${String(pid)}`, command: `/bin/p${String(pid)} -x`, executable: "", age_s: 5, cpu_percent: 0, threads: 1,
    container: false, may_attach: true, has_source: false, rebuilt: false, ...more,
  });
  const choices = { programs: [], debuggees: [{ pid: 4, name: "Server", stopped: true }], processes: Promise.resolve([]), threads: () => Promise.resolve([]) };

  it("marks processes that are debugged, rebuilt, in a container or of another user", () => {
    const items = targetItems(choices, [
      process(4, { has_source: true }),
      process(5, { has_source: true, rebuilt: true, threads: 3 }),
      process(6, { container: true, may_attach: false, user: "you" }),
    ]);
    const shown = items.map(({ label, description, buttons }) => [label.replace(/\$\(\w+(-\w+)*\) /, ""), description ?? "", buttons?.length ?? 0]);
    assert.deepEqual(shown, [
      ["being debugged", "", 0],
      ["p4", "4 · me · 5 s · debug session Server · stopped: continue it first", 0],
      ["built from this file", "", 0],
      ["p5", "5 · me · 5 s · 3 threads · rebuilt since it started", 1],
      ["other processes", "", 0],
      ["p6", "6 · you · 5 s · in a container · no permission to measure it", 0],
    ]);
  });

  it("offers launch configurations and tasks", async () => {
    const settings = vscode.workspace.getConfiguration();
    const helper = environment("PTLENS_HELPER");
    const doctor = { name: "Doctor", type: "lldb", request: "launch", program: helper, args: ["doctor"], preLaunchTask: "build" };
    await settings.update("launch", { version: "0.2.0", configurations: [doctor] }, vscode.ConfigurationTarget.Global);
    try {
      const targets = workspacePrograms().filter(({ source: kind }) => kind === "launch");
      assert.deepEqual(targets.map(({ name, program, args, preLaunchTask, problem }) => [name, program, args, preLaunchTask, problem]), [["Doctor", helper, ["doctor"], "build", undefined]]);
      const [item] = targetItems({ ...choices, debuggees: [], programs: targets }, []).filter(({ target }) => target !== undefined);
      assert.equal(item?.description, "launch configuration · after the task build");
      assert.equal(item.detail, `${helper} doctor`);
    } finally {
      await settings.update("launch", undefined, vscode.ConfigurationTarget.Global);
    }
  });
});

describe("a bundle", () => {
  it("is made of the active recording and opens like one", async () => {
    const recording = environment("PTLENS_TEST_RECORDING");
    const output = `${environment("PTLENS_TEST_RESULT")}.${String(Date.now())}.ptlens`;
    await vscode.commands.executeCommand("ptlens.openRecording", recording);
    assert.deepEqual(await shownErrors(() => vscode.commands.executeCommand("ptlens.bundleRecording", { path: recording, output })), []);
    assert.deepEqual(await shownErrors(() => vscode.commands.executeCommand("ptlens.openRecording", output)), []);
    const { session } = await activeApi();
    assert.equal(session.recordings.find(({ key }) => key === session.active?.key)?.path, session.recording?.path);
    assert.deepEqual(reportJson(output, measured).latency, reportJson(recording, measured).latency);
    for (const { key } of session.recordings) await session.remove(key);
  });
});
