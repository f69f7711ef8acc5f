// Asks for the folder with the recorded binaries where a recording cannot read the code of some, and opens it again.
import * as vscode from "vscode";
import { formatCount } from "../base/units";
import type { Recording } from "../protocol/protocol";

/** Recordings, by path, that the user was asked about in this window. */
const asked = new Set<string>();

/** `reopen` opens the recording with the binaries of the folder. */
export async function offerFolderOfBinaries(recording: Recording, reopen: (folder: string) => Promise<void>): Promise<void> {
  const { missing, path } = recording;
  if (missing.length === 0 || asked.has(path)) return;
  asked.add(path);
  const [first] = missing;
  const text =
    missing.length === 1
      ? vscode.l10n.t("PT Lens: The code of {0} is missing, so its calls are not shown.", first?.path ?? "")
      : vscode.l10n.t("PT Lens: The code of {0} binaries is missing, so their calls are not shown: {1}, …", formatCount(missing.length), first?.path ?? "");
  const choose = vscode.l10n.t("Choose Folder of Binaries…");
  if ((await vscode.window.showWarningMessage(text, choose)) !== choose) return;
  await chooseFolderOfBinaries(reopen);
}

export async function chooseFolderOfBinaries(reopen: (folder: string) => Promise<void>): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t("Folder with the Recorded Binaries"),
    openLabel: vscode.l10n.t("Use This Folder"),
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
  });
  const folder = chosen?.[0]?.fsPath;
  if (folder !== undefined) await reopen(folder);
}
