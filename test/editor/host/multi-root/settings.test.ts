// A workspace of two folders with the same settings, launch configurations and tasks: each applies to its own folder.
import { strict as assert } from "node:assert";
import path from "node:path";
import * as vscode from "vscode";
import { annotationSettings } from "../../../../extension/src/annotations/annotation-settings";
import { readSettings } from "../../../../extension/src/base/settings";
import { targetItems } from "../../../../extension/src/targets/target-picker";
import { workspacePrograms } from "../../../../extension/src/targets/workspace-programs";
import { activeApi, until } from "../editor";
import { environment } from "../environment";

const folders = (): [vscode.WorkspaceFolder, vscode.WorkspaceFolder] => {
  const [shop, library] = vscode.workspace.workspaceFolders ?? [];
  assert.deepEqual([shop?.name, library?.name], ["shop", "library"]);
  return [shop ?? assert.fail(), library ?? assert.fail()];
};
const inside = (folder: vscode.WorkspaceFolder, ...parts: string[]): string => path.join(folder.uri.fsPath, ...parts);

// VS Code reads the settings of the folders after it has started the extension.
before(async () => {
  const isRead = (folder: vscode.WorkspaceFolder): boolean => vscode.workspace.getConfiguration("ptlens", folder).inspect("duration")?.workspaceFolderValue !== undefined;
  await until("the settings of the folders", () => folders().every(isRead));
});

describe("settings of two folders", () => {
  it("are those of the folder that a file is in", () => {
    for (const [folder, seconds] of folders().map((each, index) => [each, [3, 7][index]] as const)) {
      const settings = readSettings(vscode.Uri.file(inside(folder, "main.cpp")));
      assert.equal(settings.duration, seconds);
      assert.equal(settings.symfs, inside(folder, "root"));
    }
  });

  it("are those of the open file by default", async () => {
    const [shop, library] = folders();
    for (const folder of [library, shop]) {
      await vscode.window.showTextDocument(vscode.Uri.file(inside(folder, "main.cpp")), { viewColumn: vscode.ViewColumn.One });
      assert.equal(readSettings().symfs, inside(folder, "root"));
    }
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  });

  it("are combined for the source map", () => {
    const [shop, library] = folders();
    const expected = { "/built/shop": shop.uri.fsPath, "/built/library": library.uri.fsPath };
    for (const folder of [shop, library]) assert.deepEqual(readSettings(folder.uri).sourceMap, expected);
  });

  it("control the annotations of each folder", () => {
    const [shop, library] = folders();
    const of = (folder: vscode.WorkspaceFolder): boolean[] => {
      const { lens, line } = annotationSettings(folder.uri);
      return [lens, line];
    };
    assert.deepEqual(of(shop), [true, false]);
    assert.deepEqual(of(library), [false, false]);
  });
});

describe("programs of two folders", () => {
  it("are started in their own folder, and named by it", () => {
    const [shop, library] = folders();
    const expected = [shop, library].map((folder) => ({
      launch: [inside(folder, "build", "run"), shop.uri.fsPath, folder.name],
      task: [inside(folder, "build", "run"), folder.uri.fsPath, folder.name],
    }));
    const targets = workspacePrograms();
    const of = (source: string): typeof targets => targets.filter((target) => target.source === source);
    assert.deepEqual(of("launch").map(({ program, cwd, folder }) => [program, cwd, folder]), expected.map(({ launch }) => launch));
    assert.deepEqual(of("task").map(({ program, cwd, folder }) => [program, cwd, folder]), expected.map(({ task }) => task));
    assert.deepEqual(targets.filter(({ problem }) => problem !== undefined), []);
    const choices = { programs: of("launch"), debuggees: [], processes: Promise.resolve([]), threads: () => Promise.resolve([]) };
    const items = targetItems(choices, []).filter(({ target }) => target !== undefined);
    assert.deepEqual(items.map(({ description }) => description), ["launch configuration · shop", "launch configuration · library"]);
  });
});

describe("a measurement in a workspace of two folders", () => {
  it("takes the settings of the folder in settingsOf", async () => {
    const api = await activeApi();
    const { session } = api;
    const [, library] = folders();
    const pid = Number(environment("PTLENS_TEST_PID"));
    await api.measure({ pid, function: environment("PTLENS_TEST_FUNCTION"), duration: 0.3, settingsOf: library.uri.fsPath });
    assert.equal(session.active?.measuredWith?.symfs, inside(library, "root"));
    for (const { key } of session.recordings) await session.remove(key);
  });
});
