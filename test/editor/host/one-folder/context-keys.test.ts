// The context keys that control menus, views and keybindings.
import { strict as assert } from "node:assert";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import * as vscode from "vscode";
import { activeApi, shownErrors, whileReplaced } from "../editor";
import { environment } from "../environment";

const recording = environment("PTLENS_TEST_RECORDING");
const measured = environment("PTLENS_TEST_FUNCTION");
const pid = Number(environment("PTLENS_TEST_PID"));

/** Runs `work` and returns the values that each key was set to, in order. The extension sets them with a command. */
async function keysDuring(work: () => Thenable<unknown>): Promise<Map<string, unknown[]>> {
  const set = new Map<string, unknown[]>();
  const original = vscode.commands.executeCommand;
  const replacement = (command: string, ...args: unknown[]): Thenable<unknown> => {
    if (command === "setContext") {
      const [key, value] = args as [string, unknown];
      set.set(key, [...(set.get(key) ?? []), value]);
    }
    return original(command, ...args);
  };
  await whileReplaced(vscode.commands, "executeCommand", replacement as typeof original, work);
  return set;
}

const last = (set: Map<string, unknown[]>, ...keys: string[]): unknown[] => keys.map((key) => set.get(`ptlens.${key}`)?.at(-1));

describe("context keys", () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-keys-"));
  const copy = path.join(folder, "copy");
  const about = ["hasRecordings", "hasResults", "hasBaseline", "canMeasureAgain"] as const;
  const empty = async (): Promise<void> => {
    const { session } = await activeApi();
    for (const { key } of session.recordings) await session.remove(key);
  };
  const open = async (where: string): Promise<void> => {
    assert.deepEqual(await shownErrors(() => vscode.commands.executeCommand("ptlens.openRecording", where)), []);
  };

  before(async () => {
    await empty();
    cpSync(recording, copy, { recursive: true });
  });
  after(async () => {
    await empty();
    rmSync(folder, { recursive: true, force: true });
  });

  it("follow the list of recordings, the active one and the baseline", async () => {
    const { session } = await activeApi();
    const keyOf = (where: string): string => session.recordings.find((item) => item.path === where)?.key ?? assert.fail();
    assert.deepEqual(last(await keysDuring(() => open(copy)), ...about), [true, true, false, false]);
    assert.deepEqual(last(await keysDuring(() => open(recording)), ...about), [true, true, false, false]);
    assert.deepEqual(last(await keysDuring(() => session.compareWith(keyOf(copy))), ...about), [true, true, true, false]);
    assert.deepEqual(last(await keysDuring(() => vscode.commands.executeCommand("ptlens.stopComparing")), ...about), [true, true, false, false]);
    assert.deepEqual(last(await keysDuring(() => vscode.commands.executeCommand("ptlens.clear")), ...about), [true, false, false, false]);
    assert.deepEqual(last(await keysDuring(empty), ...about), [false, false, false, false]);
  });

  it("follow a running measurement, and whether it can be repeated", async () => {
    const api = await activeApi();
    const set = await keysDuring(() => api.measure({ pid, function: measured, duration: 0.3 }));
    assert.deepEqual(set.get("ptlens.recording"), [true, false]);
    assert.deepEqual(set.get("ptlens.recordingSnapshot"), [false, false]);
    assert.deepEqual(last(set, ...about), [true, true, false, true]);
    const failed = await keysDuring(() => assert.rejects(api.measure({ pid, function: `${measured}_nowhere`, duration: 0.3 })));
    assert.deepEqual(failed.get("ptlens.recording"), [true, false], "also when it fails");
  });

  it("show the abilities of this machine after a check", async () => {
    const set = await keysDuring(() => vscode.commands.executeCommand("ptlens.doctor"));
    assert.deepEqual(set.get("ptlens.canMeasure"), [true]);
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  });
});
