// Several recordings: the active one, the baseline, and the state after the helper ended.
import { strict as assert } from "node:assert";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import * as vscode from "vscode";
import { activeApi, helpersOf, killHelpers, lenses, shownErrors, until } from "../editor";
import { environment, reportJson } from "../environment";

const source = environment("PTLENS_TEST_SOURCE");
const recording = environment("PTLENS_TEST_RECORDING");
const measured = environment("PTLENS_TEST_FUNCTION");

describe("several recordings", () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "ptlens-several-"));
  const copy = path.join(folder, "copy");
  let document: vscode.TextDocument;

  const open = (where: string): Thenable<unknown> => vscode.commands.executeCommand("ptlens.openRecording", where);
  const lensIds = async (): Promise<Set<unknown>> =>
    new Set((await lenses(document.uri)).map(({ command }) => (command?.arguments as [{ id: string }] | undefined)?.[0].id));

  before(async () => {
    const { session } = await activeApi();
    for (const { key } of session.recordings) await session.remove(key);
    cpSync(recording, copy, { recursive: true });
    document = await vscode.workspace.openTextDocument(source);
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    assert.deepEqual(await shownErrors(() => open(recording)), []);
    assert.deepEqual(await shownErrors(() => open(copy)), []);
  });
  after(async () => {
    const { session } = await activeApi();
    for (const { key } of session.recordings) await session.remove(key);
    rmSync(folder, { recursive: true, force: true });
  });

  it("are on the list once, with the figures of the command line", async () => {
    const { session } = await activeApi();
    assert.deepEqual(session.recordings.map((item) => item.path).sort(), [copy, recording].sort());
    await open(recording);
    assert.equal(session.recordings.length, 2, "opening it again adds no entry");
    const expected = reportJson(recording, measured).recording;
    const { figures } = session.recordings.find((item) => item.path === recording) ?? assert.fail();
    for (const name of ["backend", "trace_ns", "lost_ns", "threads"] as const) assert.equal(figures[name], expected[name], name);
  });

  it("are open at the same time, and the code lenses show the active one", async () => {
    const { session } = await activeApi();
    const [one, other] = [recording, copy].map((where) => session.recordings.find((item) => item.path === where) ?? assert.fail());
    assert.ok(one?.open !== undefined && other?.open !== undefined);
    await session.activate(other.key);
    assert.deepEqual(await lensIds(), new Set([other.open.id]));
    await session.activate(one.key);
    assert.deepEqual(await lensIds(), new Set([one.open.id]));
    assert.equal(session.recording?.path, recording);
  });

  it("can be compared, but not with themselves", async () => {
    const { session } = await activeApi();
    const other = session.recordings.find((item) => item.path === copy) ?? assert.fail();
    await session.compareWith(other.key);
    assert.equal(session.baselineRecording?.path, copy);
    await assert.rejects(session.compareWith(session.active?.key), /itself/);
    assert.equal(session.baseline?.path, copy);
    await session.activate(other.key);
    assert.equal(session.baseline, undefined, "a baseline that becomes active is no longer the baseline");
  });

  it("are opened again after the helper was killed, the active one and the baseline", async () => {
    const { session } = await activeApi();
    const [one, other] = [recording, copy].map((where) => session.recordings.find((item) => item.path === where)?.key);
    await session.activate(one ?? "");
    await session.compareWith(other);
    const before = helpersOf();
    assert.equal(before.length, 1);
    await shownErrors(async () => {
      killHelpers();
      const isNew = (pid: number): boolean => !before.includes(pid);
      await until("both are open in a new helper", () => session.recording !== undefined && session.baselineRecording !== undefined && helpersOf().length === 1 && helpersOf().every(isNew));
    });
    assert.equal(session.recording?.path, recording);
    assert.equal(session.baselineRecording?.path, copy);
    await until("there are lenses again", async () => (await lensIds()).size !== 0);
    assert.deepEqual(await lensIds(), new Set([session.recording.id]));
    await session.compareWith(undefined);
  });

  it("are stored for the next window", async () => {
    const { session } = await activeApi();
    const state = session.state();
    assert.deepEqual(state.recordings.map((entry) => entry.path).sort(), [copy, recording].sort());
    assert.equal(state.recordings.find((entry) => entry.key === state.active)?.path, recording);
    assert.ok(!JSON.stringify(state).includes('"open"'));
  });

  it("say that their files are missing, and the others still work", async () => {
    const { session } = await activeApi();
    const other = session.recordings.find((item) => item.path === copy) ?? assert.fail();
    await session.clear();
    assert.equal(session.active, undefined);
    assert.equal(session.recordings.length, 2);
    rmSync(copy, { recursive: true });
    await session.check();
    assert.deepEqual(session.recordings.filter((item) => item.missing).map((item) => item.path), [copy]);
    await assert.rejects(session.activate(other.key), (error: Error) => error.message.includes(copy));
    const present = session.recordings.find((item) => item.path === recording) ?? assert.fail();
    assert.equal((await session.activate(present.key))?.path, recording);
  });

  it("are renamed, and removed from the list without touching their files", async () => {
    const { session } = await activeApi();
    const { key } = session.recordings.find((item) => item.path === recording) ?? assert.fail();
    session.rename(key, "before the change");
    assert.equal(session.active?.name, "before the change");
    assert.equal(session.recordings.length, 2);
    await session.remove(key);
    assert.equal(session.active, undefined);
    assert.deepEqual(await lenses(document.uri), []);
    assert.ok(readFileSync(path.join(recording, "perf.data")).length > 0);
  });
});
