// A folder that is not trusted: recordings can be opened, and nothing of the folder runs.
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { readSettings } from "../../../../extension/src/base/settings";
import { activeApi, lenses, shownErrors } from "../editor";
import { environment, reportJson } from "../environment";

const source = environment("PTLENS_TEST_SOURCE");
const recording = environment("PTLENS_TEST_RECORDING");
const measured = environment("PTLENS_TEST_FUNCTION");
const pid = Number(environment("PTLENS_TEST_PID"));

describe("a folder without trust", () => {
  before(async () => {
    assert.equal(vscode.workspace.isTrusted, false);
    assert.ok(vscode.workspace.workspaceFolders?.[0]?.uri.fsPath.endsWith("untrusted"));
    await vscode.window.showTextDocument(vscode.Uri.file(source), { viewColumn: vscode.ViewColumn.One });
  });
  after(async () => {
    assert.ok(!existsSync(`${environment("PTLENS_TEST_RESULT")}.started`), "nothing of the folder has run");
    const { session } = await activeApi();
    for (const { key } of session.recordings) await session.remove(key);
  });

  it("cannot set the paths of binaries, the helper and perf", () => {
    const { symfs, helperPath, perfPath } = readSettings();
    assert.deepEqual({ symfs, helperPath, perfPath }, { symfs: "", helperPath: "", perfPath: "" });
  });

  it("shows a recording: lens and lines", async () => {
    assert.deepEqual(await shownErrors(() => vscode.commands.executeCommand("ptlens.openRecording", recording)), []);
    const { session, decorations } = await activeApi();
    assert.equal(session.recording?.path, recording);
    const report = reportJson(recording, measured);
    const document = await vscode.workspace.openTextDocument(source);
    const titles = (await lenses(document.uri)).map(({ command }) => command?.title ?? "");
    assert.ok(titles.some((title) => title.includes(" typical · ") && title.includes(`${report.calls.complete.toLocaleString("en-US")} calls`)), titles.join("\n"));
    assert.ok((await decorations.options(document)).length > 0);
  });

  for (const [command, ...args] of [
    ["measureLatency", { pid, function: measured, duration: 1 }],
    ["measureFunction", { name: measured, pid, duration: 1 }],
    ["measureSelected"],
    ["measureSample"],
    ["catchSlowCall", { pid, function: measured, slowerThan: 1000 }],
    ["recordSnapshot", { pid, function: measured, duration: 1 }],
  ] as const) {
    it(`rejects ${command} and explains what to do`, async () => {
      const { session } = await activeApi();
      const before = session.recordings.length;
      const errors = await shownErrors(() => vscode.commands.executeCommand(`ptlens.${command}`, ...args));
      assert.equal(errors.length, 1, errors.join("\n"));
      assert.match(errors[0] ?? "", /Trust this folder first/);
      assert.equal(session.recordings.length, before);
    });
  }

  it("rejects the API", async () => {
    const api = await activeApi();
    await assert.rejects(api.measure({ pid, function: measured, duration: 1 }), /Trust this folder first/);
    await assert.rejects(api.measure({ program: environment("PTLENS_HELPER"), args: ["doctor"] }), /Trust this folder first/);
  });
});
