// A measured function that was not called is an answer. The message offers to measure again.
import * as vscode from "vscode";
import { formatDuration } from "../base/units";
import type { Report } from "../protocol/protocol";
import { shortName } from "../recordings/recording-entry";

/** Shows the message about the reports without calls, if there are any. It stays until the user closes it. */
export function offerToRepeat(reports: readonly Report[]): void {
  const [first, ...others] = reports.filter((report) => report.not_called === true);
  if (first === undefined) return;
  const names = [first, ...others].map((report) => shortName(report.function.name)).join(", ");
  const time = formatDuration(first.recording.trace_ns);
  const text =
    others.length === 0
      ? vscode.l10n.t("PT Lens: {0} was not called in {1}.", names, time)
      : vscode.l10n.t("PT Lens: These functions were not called in {0}: {1}.", time, names);
  const again = vscode.l10n.t("Measure Again");
  void vscode.window.showInformationMessage(text, again).then((choice) => {
    if (choice === again) void vscode.commands.executeCommand("ptlens.measureAgain");
  });
}
