// A recording opened in the real editor: every figure equals the one of the command line.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import { activeApi, lenses, shownErrors } from "../editor";
import { brief, count, environment, figure, latencyFigure, linesJson, plain, reportJson } from "../environment";

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

  it("writes mean, calls and share of the function at the ends of the lines with complete or unwound calls", async () => {
    const { decorations } = await activeApi();
    const expected = linesJson(recording, source);
    const report = reportJson(recording, measured);
    const drawn = await decorations.options(document);
    const texts = new Map(drawn.map(({ range, renderOptions }) => [range.start.line + 1, plain(renderOptions?.after?.contentText)]));
    let compared = 0;
    for (const row of expected.lines) {
      const text = texts.get(row.line);
      if (row.calls === 0 && row.unwound === 0) {
        assert.equal(text, undefined, `line ${String(row.line)} has only incomplete calls`);
        continue;
      }
      const share = (100 * row.total) / report.latency.total;
      const isInside = row.line > report.function.line && row.line < report.function.line + 14;
      if (row.calls > 0 && isInside && share >= 0.15) {
        const start = `${brief(figure(row.mean, row.uncertainty?.mean))} × ${count(row.calls)} ${share >= 99.95 ? "100" : share.toFixed(1)} %`;
        assert.ok(text?.startsWith(start), `${start} in: ${text ?? ""}`);
        compared += 1;
      }
      if (row.unwound > 0) assert.match(text ?? "", new RegExp(`${count(row.unwound)} unwound \\(\\w`));
    }
    assert.ok(compared >= 2, "the function calls others on at least two lines");
    for (const { range } of drawn) {
      assert.ok(range.isEqual(document.lineAt(range.start.line).range), "the whole line, so that the text is at its end");
    }
  });

  it("has a lens with the figures above the measured function", async () => {
    const report = reportJson(recording, measured);
    const found = (await lenses(document.uri)).filter((lens) => lens.range.start.line === report.function.line - 1);
    const [figures, why] = found;
    const command = figures?.command;
    assert.ok(command !== undefined);
    assert.ok(why === undefined || why.command?.title === "Why slow?", why?.command?.title);
    const slowest = report.calls.complete < 100 ? "max" : "p99";
    assert.ok(command.title.includes(`${brief(latencyFigure(report.latency, "p50"))} typical`), command.title);
    assert.ok(command.title.includes(`${slowest} ${brief(latencyFigure(report.latency, slowest))}`), command.title);
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
