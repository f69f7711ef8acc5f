// Line time in the real editor: after the command, the end of each line and the hover show the figures of
// `ptlens lines --time` with the calls. The recording is a simulated trace.
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import type { LinesResult, LineTime } from "../../../../extension/src/protocol/protocol";
import { activeApi, shownMessages } from "../editor";
import { brief, count, duration, environment, figure, helperJson, plain } from "../environment";

const source = process.env.PTLENS_TEST_TIMED_SOURCE ?? "";

describe("line time", function () {
  let document: vscode.TextDocument;
  let expected: LinesResult;

  before(async function () {
    if (source === "") this.skip();
    const recording = environment("PTLENS_TEST_TIMED_RECORDING");
    expected = helperJson("lines", recording, "--file", source, "--time", "--json") as LinesResult;
    document = await vscode.workspace.openTextDocument(source);
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    await vscode.commands.executeCommand("ptlens.openRecording", recording);
  });
  after(async () => {
    await vscode.commands.executeCommand("ptlens.clear");
  });

  const texts = async (): Promise<Map<number, string>> => {
    const { decorations } = await activeApi();
    const options = await decorations.options(document);
    const found = new Map(options.map(({ range, renderOptions }) => [range.start.line + 1, plain(renderOptions?.after?.contentText)]));
    assert.equal(found.size, options.length, "one decoration per line");
    return found;
  };
  const times = (): LineTime[] => (expected.line_time?.lines ?? []).filter(({ line }) => line > 0);

  it("is not shown before the command", async () => {
    const found = await texts();
    const shown = expected.lines.map(({ line }) => line);
    assert.ok(found.size > 0 && [...found.keys()].every((line) => shown.includes(line)));
    for (const text of found.values()) assert.doesNotMatch(text, /\bline\b/);
  });

  it("is shown at the end of every executed line, after its calls", async () => {
    await vscode.commands.executeCommand("ptlens.showLineTime");
    const found = await texts();
    assert.deepEqual([...found.keys()], times().map(({ line }) => line));
    let timed = 0;
    for (const { line, executions, time, at_most: most } of times()) {
      const text = found.get(line) ?? "";
      const calls = expected.lines.find((row) => row.line === line);
      const share = calls === undefined ? null : /^.* × [\d,]+ (?:([\d.]+) % )?·/.exec(text);
      if (share !== null) assert.ok(text.startsWith(`${brief(figure(calls?.mean ?? 0, calls?.uncertainty?.mean))} × ${count(calls?.calls ?? 0)} `), text);
      timed += time === null ? 0 : 1;
      if (time !== null) assert.ok(text.endsWith(`line ${duration(time / executions)} × ${count(executions)}`), text);
      else if (most === 0) assert.ok(text.endsWith(`line × ${count(executions)} · too short to time`), text);
      else assert.ok(text.includes(`line × ${count(executions)} · ≤ ${duration(most ?? 0)} shared with `), text);
    }
    assert.ok(timed > 0 && timed < times().length, `${String(timed)} of ${String(times().length)} have a time`);
  });

  it("is in the hover of the line", async () => {
    const { line, executions, time, resolution } = times().find((each) => each.time !== null) ?? assert.fail("no line has a time");
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", document.uri, new vscode.Position(line - 1, 2));
    const text = hovers.flatMap(({ contents }) => contents.map((part) => (part instanceof vscode.MarkdownString ? part.value : ""))).join("\n");
    assert.ok(text.includes(`Executions of the line: ${count(executions)}. Its own instructions took ${duration(time ?? 0)} ± ${duration(resolution ?? 0)} in all`), text);
  });

  it("is not available in a recording with probes, and a message explains it", async () => {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(environment("PTLENS_TEST_SOURCE")), vscode.ViewColumn.One);
    await vscode.commands.executeCommand("ptlens.openRecording", environment("PTLENS_TEST_RECORDING"));
    const { session } = await activeApi();
    if (session.recording?.backend !== "uprobe") return;
    const shown = await shownMessages(() => vscode.commands.executeCommand("ptlens.showLineTime"));
    assert.deepEqual(shown, ["PT Lens: Line time needs Intel PT. This recording was made without it."]);
  });
});
