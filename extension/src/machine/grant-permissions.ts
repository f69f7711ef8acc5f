// Grant Permissions: puts a command that this machine needs into a terminal, where the user reads and runs it.
import * as vscode from "vscode";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { DoctorResult, Finding } from "../protocol/protocol";
import { askDoctor } from "./doctor";

interface Remedy extends vscode.QuickPickItem {
  readonly command: string;
}

export function grantPermissions(client: Client, log: Log, onResult: (result: DoctorResult) => void): Promise<void> {
  return log.attempt("grant permissions", async () => {
    const result = await askDoctor(client);
    onResult(result);
    const remedies = result.findings.flatMap(remediesOf);
    if (remedies.length === 0) {
      const text =
        result.backend === "none"
          ? vscode.l10n.t("PT Lens: No permission makes measuring possible on this machine. Check This Machine explains why.")
          : vscode.l10n.t("PT Lens: This machine can measure. No permission is missing.");
      void vscode.window.showInformationMessage(text);
      return;
    }
    const picked = await vscode.window.showQuickPick(remedies, {
      title: vscode.l10n.t("Grant Permissions"),
      placeHolder: vscode.l10n.t("Choose a command. PT Lens puts it into a terminal, and you run it."),
      matchOnDetail: true,
    });
    if (picked === undefined) return;
    const terminal = vscode.window.createTerminal("PT Lens");
    terminal.show();
    terminal.sendText(picked.command, false);
  });
}

function remediesOf({ state, title, temporary, permanent }: Finding): Remedy[] {
  if (state === "fine") return [];
  const remedy = (command: string, description: string): Remedy[] => (command === "" ? [] : [{ label: title, description, detail: command, command }]);
  return [
    ...remedy(temporary, vscode.l10n.t("until the next restart of this machine")),
    ...remedy(permanent === temporary ? "" : permanent, vscode.l10n.t("permanent")),
  ];
}
