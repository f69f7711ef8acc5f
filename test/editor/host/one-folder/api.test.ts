// Measurements without the mouse: commands with arguments, the API and tasks.
import { strict as assert } from "node:assert";
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { activeApi, shownErrors } from "../editor";
import { environment, reportJson } from "../environment";

const measured = environment("PTLENS_TEST_FUNCTION");
const pid = Number(environment("PTLENS_TEST_PID"));
const source = environment("PTLENS_TEST_SOURCE");

describe("measuring without the mouse", () => {
  before(async () => {
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    await vscode.window.showTextDocument(vscode.Uri.file(source), { viewColumn: vscode.ViewColumn.One });
  });
  after(async () => {
    const { session } = await activeApi();
    for (const { key } of session.recordings) await session.remove(key);
  });

  it("the API measures a process, reports as the command line, and fires an event", async () => {
    const api = await activeApi();
    const active: (string | undefined)[] = [];
    const listening = api.onDidChangeActiveRecording((handle) => active.push(handle?.path));
    const stages: string[] = [];
    const recording = await api.measure({ pid, function: measured, duration: 0.5, onProgress: (text) => stages.push(text) });
    listening.dispose();
    assert.ok(existsSync(recording.path));
    assert.ok(stages.some((text) => text.startsWith("recording")), stages.join("\n"));
    assert.ok(active.includes(recording.path));
    const { calls, latency } = await api.report(recording, measured);
    const expected = reportJson(recording.path, measured);
    assert.deepEqual({ calls, latency }, { calls: expected.calls, latency: expected.latency });
  });

  it("the API rejects a process that does not exist, and a cancelled measurement leaves nothing", async () => {
    const api = await activeApi();
    const before = api.session.recordings.length;
    await assert.rejects(api.measure({ pid: 999_999_999, function: measured }), /999999999/);
    const cancel = new vscode.CancellationTokenSource();
    const running = api.measure({ pid, function: measured, duration: 60, onProgress: () => { cancel.cancel(); } }, cancel.token);
    await assert.rejects(running, /cancel/i);
    assert.equal(api.session.recordings.length, before);
  });

  it("Measure Again takes the same process, function and settings", async () => {
    const { session } = await activeApi();
    const before = session.active ?? assert.fail();
    assert.deepEqual(await shownErrors(() => vscode.commands.executeCommand("ptlens.measureAgain")), []);
    const after = session.active ?? assert.fail();
    assert.notEqual(after.path, before.path);
    assert.deepEqual(after.functions, before.functions);
    assert.equal(after.measuredWith?.duration, 0.5);
    assert.equal(after.measuredWith.pid, pid);
    assert.equal(after.target, before.target);
    assert.ok(reportJson(after.path, measured).calls.complete > 0);
  });

  it("a lens measures its function by name", async () => {
    const { session } = await activeApi();
    const errors = await shownErrors(() =>
      vscode.commands.executeCommand("ptlens.measureFunction", { name: measured, file: source, line: 1, pid, duration: 0.5 }),
    );
    assert.deepEqual(errors, []);
    assert.deepEqual(session.active?.functions.map(({ name }) => name), [measured]);
  });

  it("only one measurement runs at a time", async () => {
    const api = await activeApi();
    const cancel = new vscode.CancellationTokenSource();
    let first: Promise<unknown> = Promise.resolve();
    await new Promise<void>((begun) => {
      first = api.measure({ pid, function: measured, duration: 60, onProgress: () => { begun(); } }, cancel.token);
    });
    await assert.rejects(api.measure({ pid, function: measured, duration: 1 }), /Another measurement is running/);
    cancel.cancel();
    await assert.rejects(first);
  });

  it("a task measures, ends with 0 and leaves a recording", async () => {
    const { session } = await activeApi();
    const before = session.recordings.length;
    const run = async (definition: vscode.TaskDefinition): Promise<number | undefined> => {
      const task = await resolved(definition);
      const ended = new Promise<number | undefined>((resolve) => {
        const listening = vscode.tasks.onDidEndTaskProcess(({ exitCode, execution }) => {
          if (execution.task.name !== task.name) return;
          listening.dispose();
          resolve(exitCode);
        });
      });
      await vscode.tasks.executeTask(task);
      return ended;
    };
    assert.equal(await run({ type: "ptlens", pid, function: measured, duration: 0.5 }), 0);
    assert.equal(session.recordings.length, before + 1);
    assert.equal(await run({ type: "ptlens", pid: 999_999_999, function: measured }), 1);
  });
});

/** Returns a task that tasks.json declares; VS Code lets the provider resolve it. */
async function resolved(definition: vscode.TaskDefinition): Promise<vscode.Task> {
  const name = `ptlens test ${JSON.stringify(definition)}`;
  const configuration = vscode.workspace.getConfiguration("tasks");
  await configuration.update("version", "2.0.0", vscode.ConfigurationTarget.Global);
  await configuration.update("tasks", [{ ...definition, label: name, problemMatcher: [] }], vscode.ConfigurationTarget.Global);
  const task = (await vscode.tasks.fetchTasks({ type: "ptlens" })).find((each) => each.name === name);
  assert.ok(task !== undefined, "VS Code knows the task");
  return task;
}
