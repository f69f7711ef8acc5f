// The life of the helper: killed during a measurement, and restarted by a command.
import { strict as assert } from "node:assert";
import * as vscode from "vscode";
import { activeApi, helpersOf, killHelpers, shownErrors, until } from "../editor";
import { environment, reportJson } from "../environment";

const measured = environment("PTLENS_TEST_FUNCTION");
const pid = Number(environment("PTLENS_TEST_PID"));

describe("the helper", () => {
  before(async () => {
    await vscode.window.showTextDocument(vscode.Uri.file(environment("PTLENS_TEST_SOURCE")), { viewColumn: vscode.ViewColumn.One });
  });
  after(async () => {
    const { session } = await activeApi();
    for (const { key } of session.recordings) await session.remove(key);
  });

  it("killed during a measurement: shows one message with the reason, loses no recording, and can measure again", async () => {
    const api = await activeApi();
    const earlier = await api.measure({ pid, function: measured, duration: 0.3 });
    const errors = await shownErrors(async () => {
      let begun = false;
      const running = api.measure({
        pid,
        function: measured,
        duration: 60,
        onProgress: (text) => {
          begun ||= text.startsWith("recording");
        },
      });
      const failed = assert.rejects(running, /helper has ended/);
      await until("the recording runs", () => begun);
      killHelpers();
      await failed;
      await until("the earlier recording is shown again", () => api.session.recording?.path === earlier.path);
      await new Promise((resolve) => setTimeout(resolve, 2500));
    });
    assert.equal(errors.length, 1, errors.join("\n"));
    assert.match(errors[0] ?? "", /during the measurement.*SIGSEGV/);
    assert.ok(api.session.recordings.some((item) => item.path === earlier.path));
    const after = await api.measure({ pid, function: measured, duration: 0.3 });
    assert.ok(reportJson(after.path, measured).calls.complete > 0);
    assert.equal(api.session.recordings.length, 2);
  });

  it("is restarted by Restart Helper, without a message and with the same results", async () => {
    const { session } = await activeApi();
    const before = helpersOf();
    const shown = session.active?.path;
    const errors = await shownErrors(async () => {
      await vscode.commands.executeCommand("ptlens.restartHelper");
      await session.ready();
    });
    assert.deepEqual(errors, []);
    const now = helpersOf();
    assert.equal(now.length, 1);
    assert.notDeepEqual(now, before);
    assert.equal(session.recording?.path, shown);
  });
});
