// Grant rights: the commands that this machine lacks, one is put into a terminal for the user to read and run.
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import type { Log } from "../errors/log";
import type { DoctorResult } from "../protocol/protocol";
import { askDoctor } from "./doctor";

interface Remedy extends vscode.QuickPickItem {
  readonly command?: string;
}

export async function grantRights(client: Client, log: Log, onResult: (result: DoctorResult) => void): Promise<void> {
  try {
    const result = await askDoctor(client);
    onResult(result);
    const remedies = result.findings.flatMap(remediesOf);
    if (remedies.length === 0) {
      const text =
        result.backend === "none"
          ? vscode.l10n.t("PT Lens: nothing can be granted here that would make measuring possible. Check This Machine says why.")
          : vscode.l10n.t("PT Lens: this machine can measure, nothing has to be granted.");
      void vscode.window.showInformationMessage(text);
      return;
    }
    const picked = await vscode.window.showQuickPick(remedies, {
      title: vscode.l10n.t("Grant rights: the command is put into a terminal, and you run it"),
      matchOnDetail: true,
    });
    if (picked?.command === undefined) return;
    const terminal = vscode.window.createTerminal("PT Lens");
    terminal.show();
    terminal.sendText(picked.command, false);
  } catch (error) {
    log.report(vscode.l10n.t("grant rights"), error);
  }
}

function remediesOf({ state, title, temporary, permanent }: DoctorResult["findings"][number]): Remedy[] {
  if (state === "fine") return [];
  const remedy = (command: string, description: string): Remedy[] => (command === "" ? [] : [{ label: title, description, detail: command, command }]);
  return [
    ...remedy(temporary, vscode.l10n.t("until the next start of the machine")),
    ...remedy(permanent === temporary ? "" : permanent, vscode.l10n.t("for good")),
  ];
}
