// Show Actions: the commands that can run now. A click on the status bar item opens the list.
import * as vscode from "vscode";
import type { Session } from "../recordings/session";

interface Action extends vscode.QuickPickItem {
  readonly command: string;
}

export async function pickAction(session: Session): Promise<void> {
  const { isTrusted } = vscode.workspace;
  const measured = session.recordings.some((item) => item.measuredWith !== undefined);
  const action = (when: boolean, label: string, command: string): Action[] => (when ? [{ label, command }] : []);
  const actions: Action[] = [
    ...action(isTrusted, `$(pulse) ${vscode.l10n.t("Measure Latency")}`, "ptlens.measureLatency"),
    ...action(isTrusted && measured, `$(debug-rerun) ${vscode.l10n.t("Measure Again")}`, "ptlens.measureAgain"),
    ...action(session.active !== undefined, `$(flame) ${vscode.l10n.t("Show Flame Graph")}`, "ptlens.showFlameGraph"),
    ...action(session.recordings.length > 0, `$(list-unordered) ${vscode.l10n.t("Show Recordings")}`, "ptlens.recordings.focus"),
    ...action(true, `$(folder-opened) ${vscode.l10n.t("Open Recording…")}`, "ptlens.openRecording"),
    ...action(session.active !== undefined, `$(clear-all) ${vscode.l10n.t("Clear Results")}`, "ptlens.clear"),
    ...action(true, `$(checklist) ${vscode.l10n.t("Check This Machine")}`, "ptlens.doctor"),
    ...action(true, `$(book) ${vscode.l10n.t("Get Started")}`, "ptlens.walkthrough"),
    ...action(true, `$(debug-restart) ${vscode.l10n.t("Restart Helper")}`, "ptlens.restartHelper"),
    ...action(true, `$(output) ${vscode.l10n.t("Show Log")}`, "ptlens.showLog"),
  ];
  const picked = await vscode.window.showQuickPick(actions, { title: "PT Lens" });
  if (picked !== undefined) await vscode.commands.executeCommand(picked.command);
}
