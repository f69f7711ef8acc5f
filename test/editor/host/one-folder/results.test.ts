// A recording opened in the real editor: every figure equals the one of the command line.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import { activeApi, lenses, shownErrors } from "../editor";
import { count, duration, environment, figure, latencyFigure, linesJson, plain, reportJson } from "../environment";

const source = environment("PTLENS_TEST_SOURCE");
const recording = environment("PTLENS_TEST_RECORDING");
const measured = environment("PTLENS_TEST_FUNCTION");

describe("commands", () => {
  it("are all registered", async () => {
    await activeApi();
    const present = new Set(await vscode.commands.getCommands(true));
    for (const name of ["measureLatency", "finish", "openRecording", "clear", "showFlameGraph", "showFunction", "showLog", "doctor"]) {
      assert.ok(present.has(`ptlens.${name}`), name);
    }
  });
});

describe("a recording that was opened", () => {
  let document: vscode.TextDocument;

  before(async () => {
    document = await vscode.workspace.openTextDocument(source);
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    const errors = await shownErrors(() => vscode.commands.executeCommand("ptlens.openRecording", recording));
    assert.deepEqual(errors, []);
  });
  after(() => vscode.commands.executeCommand("ptlens.clear"));

  it("is the one that is shown", async () => {
    const { session } = await activeApi();
    assert.equal(session.recording?.path, recording);
    assert.equal(session.recording.trace_ns, reportJson(recording, measured).recording.trace_ns);
  });

  it("writes mean, calls and off-CPU at the end of exactly the lines with calls", async () => {
    const { decorations } = await activeApi();
    const expected = linesJson(recording, source);
    const known = expected.recording.off_cpu_known;
    const texts = expected.lines.flatMap((row): [number, string][] => {
      const parts: string[] = [];
      if (row.calls > 0) parts.push(`${figure(row.mean, row.uncertainty?.mean)} × ${count(row.calls)}`);
      if (row.calls > 0 && known && row.off_cpu.total > 0) parts.push(`off-CPU ${duration(row.off_cpu.total)} total`);
      if (row.unwound > 0) parts.push(`${count(row.unwound)} unwound`);
      if (row.incomplete > 0) parts.push(`${count(row.incomplete)} incomplete`);
      // Functions that have no call in the figures are named.
      const names = row.callees.filter((callee) => callee.calls === 0).map((callee) => callee.name.replace(/\(.*$/, "").split("::").pop() ?? "");
      const more = names.length > 2 ? ` and ${count(names.length - 2)} more` : "";
      const unnamed = names.length > 0 ? ` (${names.slice(0, 2).join(", ")}${more})` : "";
      return parts.length === 0 ? [] : [[row.line, parts.join(" · ") + unnamed]];
    });
    assert.ok(texts.length >= 2, "the function calls others on at least two lines");
    const drawn = await decorations.options(document);
    assert.deepEqual(
      drawn.map(({ range, renderOptions }) => [range.start.line + 1, plain(renderOptions?.after?.contentText)]),
      texts,
    );
    for (const { range } of drawn) {
      assert.ok(range.isEqual(document.lineAt(range.start.line).range), "the whole line, so that the text is at its end");
    }
  });

  it("has a lens with the figures above the measured function", async () => {
    const report = reportJson(recording, measured);
    const found = (await lenses(document.uri)).filter((lens) => lens.range.start.line === report.function.line - 1);
    assert.equal(found.length, 1);
    const command = found[0]?.command;
    assert.ok(command !== undefined);
    assert.ok(command.title.includes(`mean ${latencyFigure(report.latency, "mean")}`), command.title);
    assert.ok(command.title.includes(`p99 ${latencyFigure(report.latency, "p99")}`), command.title);
    assert.ok(command.title.includes(`${count(report.calls.complete)} calls`), command.title);
    const [argument] = command.arguments as [{ name: string; address: string }];
    assert.equal(argument.name, report.function.name);
    assert.equal(argument.address, report.function.address);
  });

  it("shows the figures in a hover on the function", async () => {
    const report = reportJson(recording, measured);
    const position = new vscode.Position(report.function.line - 1, 2);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", document.uri, position);
    const text = hovers.flatMap(({ contents }) => contents.map((part) => (part instanceof vscode.MarkdownString ? part.value : ""))).join("\n");
    assert.ok(text.includes(latencyFigure(report.latency, "mean")), text);
  });

  it("moves the figures with their lines while the file is edited", async () => {
    const onDisk = readFileSync(source, "utf8");
    const { decorations } = await activeApi();
    const linesOf = async (): Promise<number[]> => (await decorations.options(document)).map(({ range }) => range.start.line);
    const lensLines = async (): Promise<number[]> => (await lenses(document.uri)).map(({ range }) => range.start.line);
    const before = { lines: await linesOf(), lenses: await lensLines() };
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), "// one\n// two\n");
    await vscode.workspace.applyEdit(edit);
    assert.deepEqual(await linesOf(), before.lines.map((line) => line + 2));
    assert.deepEqual(await lensLines(), before.lenses.map((line) => line + 2));
    const undo = new vscode.WorkspaceEdit();
    undo.delete(document.uri, new vscode.Range(0, 0, 2, 0));
    await vscode.workspace.applyEdit(undo);
    assert.deepEqual(await linesOf(), before.lines);
    await vscode.commands.executeCommand("workbench.action.files.revert");
    assert.equal(readFileSync(source, "utf8"), onDisk, "the file itself was never touched");
  });

  it("draws nothing in a file that is not in the recording", async () => {
    const { decorations } = await activeApi();
    const other = await vscode.workspace.openTextDocument({ language: "cpp", content: "int main() {}\n" });
    assert.deepEqual(await decorations.options(other), []);
  });

  it("is gone after Clear Results", async () => {
    const { session, decorations } = await activeApi();
    await vscode.commands.executeCommand("ptlens.clear");
    assert.equal(session.recording, undefined);
    assert.deepEqual(await decorations.options(document), []);
    assert.deepEqual(await lenses(document.uri), []);
  });
});

describe("failures", () => {
  it("name the recording that cannot be opened", async () => {
    const path = `${recording}/no-such-recording`;
    const errors = await shownErrors(() => vscode.commands.executeCommand("ptlens.openRecording", path));
    assert.equal(errors.length, 1);
    assert.match(errors[0] ?? "", /no-such-recording/);
    assert.equal((await activeApi()).session.recording, undefined);
  });

  it("name a process that does not exist", async () => {
    const errors = await shownErrors(() =>
      vscode.commands.executeCommand("ptlens.measureLatency", { pid: 999_999_999, function: measured, duration: 1 }),
    );
    assert.equal(errors.length, 1);
    assert.match(errors[0] ?? "", /999999999/);
  });

  it("name the nearest functions for one that does not exist", async () => {
    await vscode.commands.executeCommand("ptlens.openRecording", recording);
    const wrong = `${measured}x`;
    const errors = await shownErrors(() => vscode.commands.executeCommand("ptlens.showFunction", { name: wrong }));
    assert.equal(errors.length, 1);
    assert.ok(errors[0]?.replaceAll(wrong, "").includes(measured), errors[0]);
    await vscode.commands.executeCommand("ptlens.clear");
  });
});

describe("a live process", () => {
  it("is measured by the command with arguments", async () => {
    const pid = Number(environment("PTLENS_TEST_PID"));
    const errors = await shownErrors(() =>
      vscode.commands.executeCommand("ptlens.measureLatency", { pid, function: measured, duration: 1 }),
    );
    assert.deepEqual(errors, []);
    const { session } = await activeApi();
    assert.ok(session.recording !== undefined);
    const report = reportJson(session.recording.path, measured);
    assert.ok(report.calls.complete > 0);
    assert.equal(report.recording.backend, session.recording.backend);
    await vscode.commands.executeCommand("ptlens.clear");
  });
});
