// When the helper ends by itself: one message with the reason, one action that goes on, and the log.
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import type { Log } from "../errors/log";
import type { Recorder } from "./recorder";

export function tellOfEnds(client: Client, recorder: Recorder, log: Log): vscode.Disposable {
  return client.onDidFail((reason) => {
    const interrupted = recorder.takeInterrupted();
    const action = interrupted === undefined ? vscode.l10n.t("Restart Helper") : vscode.l10n.t("Measure Again");
    const what =
      interrupted === undefined
        ? vscode.l10n.t("PT Lens: the helper has ended unexpectedly ({0}). Recordings are kept.", reason)
        : vscode.l10n.t("PT Lens: the helper has ended during the measurement ({0}). Earlier recordings are kept.", reason);
    log.channel.error(what);
    void vscode.window.showErrorMessage(`${what} [${vscode.l10n.t("Show Log")}](command:ptlens.showLog)`, action).then(async (choice) => {
      if (choice !== action) return;
      try {
        await (interrupted === undefined ? client.restart() : interrupted());
      } catch (error) {
        log.report(action, error);
      }
    });
  });
}
