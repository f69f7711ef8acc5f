// Annotations in the real editor: their lines, their text after the file, the program or the settings change, and their
// cost in a long file.
import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { performance } from "node:perf_hooks";
import * as vscode from "vscode";
import type { Api } from "../../../../extension/src/extension";
import { helpersOf, until, untilSame } from "../editor";
import { brief, count, environment, helperJson, latencyFigure, linesJson, plain, reportJson } from "../environment";

const source = environment("PTLENS_TEST_SOURCE");
const recording = environment("PTLENS_TEST_RECORDING");
const measured = environment("PTLENS_TEST_FUNCTION");

async function api(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>("ptlens.ptlens");
  assert.ok(extension !== undefined);
  return extension.activate();
}

async function lensTitles(document: vscode.TextDocument): Promise<{ line: number; title: string }[]> {
  const all = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", document.uri);
  return all
    .filter((lens) => lens.command?.command === "ptlens.showFunction")
    .map((lens) => ({ line: lens.range.start.line, title: lens.command?.title ?? "" }));
}

async function hoverText(document: vscode.TextDocument, line: number): Promise<string> {
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", document.uri, new vscode.Position(line, 2));
  return hovers.flatMap(({ contents }) => contents.map((part) => (part instanceof vscode.MarkdownString ? part.value : ""))).join("\n");
}

async function replace(document: vscode.TextDocument, range: vscode.Range, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, range, text);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

async function set(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration("ptlens").update(name, value, vscode.ConfigurationTarget.Global);
}

/** Returns the CPU time of this thread, µs; of the process in a Node version without threadCpuUsage. */
function threadCpu(): NodeJS.CpuUsage {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => NodeJS.CpuUsage };
  return threadCpuUsage === undefined ? process.cpuUsage() : threadCpuUsage.call(process);
}

describe("annotations of a file", () => {
  let document: vscode.TextDocument;

  before(async () => {
    document = await vscode.workspace.openTextDocument(source);
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    await vscode.commands.executeCommand("ptlens.openRecording", recording);
  });
  after(async () => {
    for (const name of ["show", "heat"]) await set(name, undefined);
    await vscode.commands.executeCommand("workbench.action.files.revert");
    await vscode.commands.executeCommand("ptlens.clear");
  });

  it("have exactly one decoration per line, at its end, in one of the levels of heat", async () => {
    const { decorations } = await api();
    const { texts, marks } = await decorations.decorationsOf(document);
    const lines = texts.flat().map(({ range }) => range.start.line);
    const known = linesJson(recording, source).lines.map(({ line }) => line - 1);
    assert.ok(lines.length >= 2 && lines.every((line) => known.includes(line)), String(lines));
    assert.equal(new Set(lines).size, lines.length);
    for (const { range } of texts.flat()) assert.ok(range.isEqual(document.lineAt(range.start.line).range));
    assert.deepEqual(marks.flat(), [], "all lines are requested, so those to show have their text");
    const { lines: rows } = linesJson(recording, source);
    const hottest = rows.toSorted((a, b) => b.total - a.total)[0];
    assert.ok(texts.at(-1)?.some(({ range }) => range.start.line + 1 === hottest?.line), "the hottest line has the highest level");
  });

  it("leave lines out of sight to the overview ruler", async () => {
    const { decorations } = await api();
    const rows = linesJson(recording, source).lines.map(({ line }) => line);
    const [first = 1] = rows;
    const { texts, marks } = await decorations.decorationsOf(document, first, first);
    assert.deepEqual(texts.flat().map(({ range }) => range.start.line + 1), [first]);
    assert.deepEqual(marks.flat().map(({ start }) => start.line + 1).toSorted((a, b) => a - b), rows.slice(1));
  });

  it("have the figures of ptlens report --json in the code lens", async () => {
    const report = reportJson(recording, measured);
    const lens = (await lensTitles(document)).find(({ line }) => line === report.function.line - 1);
    assert.ok(lens !== undefined);
    const off = (100 * report.off_cpu.total) / report.latency.total;
    const slowest = report.calls.complete < 100 ? "max" : "p99";
    const share = off === 0 ? [] : [`${off < 1 ? "< 1" : off.toFixed(0)} % off-CPU`];
    const figures = [`${brief(latencyFigure(report.latency, "p50"))} typical`, `${slowest} ${brief(latencyFigure(report.latency, slowest))}`, `${count(report.calls.complete)} calls`, ...share];
    assert.ok(lens.title.startsWith(figures.join(" · ")), `${figures.join(" · ")} in: ${lens.title}`);
  });

  it("have a hover with the percentiles, the answer, the method and links", async () => {
    const report = reportJson(recording, measured);
    const text = await hoverText(document, report.function.line - 1);
    const { latency } = report;
    const calls = report.calls.complete;
    assert.ok(text.includes(`${count(calls)} calls · ${latencyFigure(latency, "total")}`), text);
    const from = (least: number, name: "p90" | "p99" | "p999"): string => (calls < least ? "–" : latencyFigure(latency, name));
    const row = [latencyFigure(latency, "p50"), from(10, "p90"), from(100, "p99"), from(1000, "p999"), latencyFigure(latency, "max"), latencyFigure(latency, "mean")];
    assert.ok(text.includes(`| ${row.join(" | ")} |`), `${row.join(" | ")} in: ${text}`);
    assert.match(text, calls < 100 ? /too few to say what is typical/ : /[Tt]ypically/);
    const means = { uprobe: "probes: the program ran ", uftrace: "uftrace: the program ran " }[report.recording.backend as string] ?? "Intel";
    assert.ok(text.includes(`Measured with ${means}`), text);
    for (const view of ["calls", "flame", "figures"]) assert.ok(text.includes(`%22view%22%3A%22${view}%22`), view);
  });

  it("say that the file was edited, until the edit is undone", async () => {
    const { decorations } = await api();
    const report = reportJson(recording, measured);
    const before = (await decorations.options(document)).map(({ range }) => range.start.line);
    await replace(document, new vscode.Range(0, 0, 0, 0), "// a comment\n");
    const edited = await decorations.options(document);
    assert.deepEqual(edited.map(({ range }) => range.start.line), before.map((line) => line + 1));
    for (const { renderOptions } of edited) assert.match(plain(renderOptions?.after?.contentText), /^✎ /);
    const lens = (await lensTitles(document)).find(({ line }) => line === report.function.line);
    assert.match(lens?.title ?? "", /^\(before your edit\)/);
    assert.match(await hoverText(document, report.function.line), /before your edit of this file; these lines are as they were/);

    const body = document.lineAt(report.function.line + 1);
    await replace(document, new vscode.Range(body.range.end, body.range.end), " /* changed */");
    const changed = (await lensTitles(document)).find(({ line }) => line === report.function.line);
    assert.match(changed?.title ?? "", /^\(changed since it was measured\)/);
    assert.match(await hoverText(document, report.function.line), /not what the measured program was built from/);

    await vscode.commands.executeCommand("workbench.action.files.revert");
    const again = await decorations.options(document);
    assert.deepEqual(again.map(({ range }) => range.start.line), before);
    for (const { renderOptions } of again) assert.doesNotMatch(plain(renderOptions?.after?.contentText), /✎/);
  });

  it("are requested again if the file is edited before the answer comes", async () => {
    const { decorations } = await api();
    const helpers = helpersOf();
    assert.ok(helpers.length > 0);
    const requests = await untilSame(() => decorations.requests);
    try {
      for (const helper of helpers) process.kill(helper, "SIGSTOP");
      await replace(document, new vscode.Range(0, 0, 0, 0), "/**/");
      await until("a request for the edited lines", () => decorations.requests === requests + 1);
      await replace(document, new vscode.Range(0, 0, 0, 4), "");
    } finally {
      for (const helper of helpers) process.kill(helper, "SIGCONT");
    }
    await until("a request for the lines as they were", () => decorations.requests === requests + 2);
    await vscode.commands.executeCommand("workbench.action.files.revert");
  });

  it("follow the setting ptlens.show at once", async () => {
    const { decorations } = await api();
    await set("show", "lens");
    assert.deepEqual(await decorations.options(document), []);
    assert.ok((await lensTitles(document)).length > 0);
    await set("show", "line");
    assert.ok((await decorations.options(document)).length > 0);
    assert.deepEqual(await lensTitles(document), []);
    await set("show", "none");
    assert.deepEqual(await decorations.options(document), []);
    assert.deepEqual(await lensTitles(document), []);
    await set("show", undefined);
    assert.ok((await decorations.options(document)).length > 0);
  });

  it("do not appear twice: the helper offers this editor no inlay hints", async () => {
    const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>(
      "vscode.executeInlayHintProvider",
      document.uri,
      new vscode.Range(0, 0, document.lineCount, 0),
    );
    assert.deepEqual(hints, []);
  });
});

describe("against a baseline", () => {
  it("lens and lines show the change that ptlens diff --json prints", async () => {
    const { session, decorations } = await api();
    const document = await vscode.workspace.openTextDocument(source);
    const other = environment("PTLENS_TEST_BASELINE");
    await vscode.commands.executeCommand("ptlens.openRecording", other);
    await vscode.commands.executeCommand("ptlens.openRecording", recording);
    const base = session.recordings.find((item) => item.path === other);
    assert.ok(base !== undefined);
    await session.compareWith(base.key);
    const printed = helperJson("diff", other, recording, "--function", measured, "--json") as {
      functions: { line: number; difference: { mean: { verdict: string; percent: number } } }[];
    };
    const [pair] = printed.functions;
    assert.ok(pair !== undefined);
    const title = (await lensTitles(document)).find(({ line }) => line === pair.line - 1)?.title ?? "";
    const { difference } = pair;
    const { verdict, percent } = difference.mean;
    const words = { faster: "faster −", slower: "slower +", no_change: "no change", cannot_tell: "cannot tell a change" };
    assert.ok(title.startsWith(words[verdict as keyof typeof words]), `${title}: ${verdict} ${String(percent)}`);
    for (const { renderOptions } of await decorations.options(document)) {
      assert.match(plain(renderOptions?.after?.contentText), / · ([↓↑] [+−]\S+ %|=|\?|new)/);
    }
    await session.compareWith(undefined);
    assert.doesNotMatch((await lensTitles(document)).find(({ line }) => line === pair.line - 1)?.title ?? "", /^(faster|slower|no change|cannot tell)/);
    await vscode.commands.executeCommand("ptlens.clear");
  });
});

describe("a file of 20,000 lines with 5,000 lines with calls", () => {
  const long = process.env.PTLENS_TEST_LONG_SOURCE ?? "";

  it("is annotated at the measured lines when its text changes on disk, and without a mark when the text is restored", async function () {
    if (long === "") this.skip();
    const { decorations } = await api();
    const text = readFileSync(long, "utf8");
    await vscode.commands.executeCommand("ptlens.openRecording", environment("PTLENS_TEST_LONG_RECORDING"));
    const rows = linesJson(environment("PTLENS_TEST_LONG_RECORDING"), long).lines.map(({ line }) => line);
    writeFileSync(long, `// another branch\n${text}`);
    const document = await vscode.workspace.openTextDocument(long);
    const moved = await decorations.options(document);
    assert.deepEqual(moved.map(({ range }) => range.start.line), rows);
    assert.match(plain(moved[0]?.renderOptions?.after?.contentText), /^✎/);
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    writeFileSync(long, text); // as git checkout: the same text, newer than the program
    await vscode.commands.executeCommand("workbench.action.files.revert"); // the file is outside the folder: nothing watches it
    assert.equal(document.getText(), text, "the editor has read it again");
    const back = await decorations.options(document);
    assert.deepEqual(back.map(({ range }) => range.start.line + 1), rows);
    assert.doesNotMatch(plain(back[0]?.renderOptions?.after?.contentText), /[✎?]/);
    await vscode.commands.executeCommand("ptlens.clear");
  });

  it("is scrolled and typed in; the longest tasks of the extension host are reported", async function () {
    if (long === "") this.skip();
    const { decorations } = await api();
    const document = await vscode.workspace.openTextDocument(long);
    const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    await vscode.commands.executeCommand("ptlens.openRecording", environment("PTLENS_TEST_LONG_RECORDING"));
    assert.ok(document.lineCount >= 20_000);
    const expected = linesJson(environment("PTLENS_TEST_LONG_RECORDING"), long).lines;
    assert.ok(expected.length >= 5_000, String(expected.length));
    const { texts, marks } = await decorations.decorationsOf(document, 1, 200);
    assert.equal(texts.flat().length, expected.filter(({ line }) => line <= 200).length);
    assert.equal(texts.flat().length + marks.flat().length, expected.length);

    // A task of the event loop is the time between two turns of a timer. Reported are the longest in CPU time of this
    // thread, which other processes do not affect, and in wall-clock time.
    const cpu = (): number => {
      const { user, system } = threadCpu();
      return (user + system) / 1000;
    };
    let longest = { cpu: 0, wall: 0 };
    let last = { cpu: cpu(), wall: performance.now() };
    const timer = setInterval(() => {
      const now = { cpu: cpu(), wall: performance.now() };
      longest = { cpu: Math.max(longest.cpu, now.cpu - last.cpu), wall: Math.max(longest.wall, now.wall - last.wall - 1) };
      last = now;
    }, 1);
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    const requestsBefore = decorations.requests;
    let screens = 0;
    for (let line = 0; line < document.lineCount; line += 400, screens += 1) {
      editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.AtTop);
      await pause(90);
    }
    const scrolling = longest;
    const requests = decorations.requests - requestsBefore;
    longest = { cpu: 0, wall: 0 };
    editor.selection = new vscode.Selection(10_000, 0, 10_000, 0);
    editor.revealRange(editor.selection);
    for (let key = 0; key < 60; key += 1) {
      await vscode.commands.executeCommand("type", { text: key % 20 === 19 ? "\n" : "x" });
      await pause(20);
    }
    await pause(600);
    const typing = longest;
    clearInterval(timer);
    assert.ok(requests <= screens, `${String(requests)} requests for ${String(screens)} screens: at most one each`);
    writeFileSync(
      path.join(path.dirname(environment("PTLENS_TEST_RESULT")), "long-file.json"),
      JSON.stringify({ scrolling, typing, screens, requests }),
    );
    await vscode.commands.executeCommand("workbench.action.files.revert");
    await vscode.commands.executeCommand("ptlens.clear");
  });
});
