// The message when the helper ended unexpectedly: the reason, one action, and the log.
import * as vscode from "vscode";
import { showLogLink, type Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { Recorder } from "./recorder";

export function reportHelperExit(client: Client, recorder: Recorder, log: Log): vscode.Disposable {
  return client.onDidFail((reason) => {
    const repeatMeasurement = recorder.takeInterrupted();
    const interrupted = repeatMeasurement !== undefined;
    const action = interrupted ? vscode.l10n.t("Measure Again") : vscode.l10n.t("Restart Helper");
    const text = interrupted
      ? vscode.l10n.t("PT Lens: The helper ended during the measurement ({0}). Earlier recordings are not affected.", reason)
      : vscode.l10n.t("PT Lens: The helper ended unexpectedly ({0}). Recordings are not affected.", reason);
    log.channel.error(text);
    void vscode.window.showErrorMessage(`${text} ${showLogLink()}`, action).then(async (choice) => {
      if (choice !== action) return;
      await log.attempt(interrupted ? "measure again" : "restart the helper", async () => {
        await (interrupted ? repeatMeasurement() : client.restart());
      });
    });
  });
}
