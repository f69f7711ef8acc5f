// Opens a source line beside the panel, in an editor column that already contains a text editor.
import * as vscode from "vscode";
import { sourceCandidates } from "./source-path";

async function exists(path: string): Promise<boolean> {
  try {
    const { type } = await vscode.workspace.fs.stat(vscode.Uri.file(path));
    return (type & vscode.FileType.Directory) === 0;
  } catch {
    return false;
  }
}

/** `line` is 1-based; 0 is the top of the file. */
export async function revealSource(recorded: string, line: number, currentLine: CurrentLine): Promise<void> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  for (const candidate of sourceCandidates(recorded, folders)) {
    if (!(await exists(candidate))) continue;
    const uri = vscode.Uri.file(candidate);
    const document = await vscode.workspace.openTextDocument(uri);
    const column = vscode.window.visibleTextEditors[0]?.viewColumn ?? vscode.ViewColumn.One;
    const row = Math.min(await currentLine(uri, Math.max(line - 1, 0)), document.lineCount - 1);
    const start = document.lineAt(row).firstNonWhitespaceCharacterIndex;
    const selection = new vscode.Range(row, start, row, start);
    const editor = await vscode.window.showTextDocument(document, { viewColumn: column, selection });
    editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return;
  }
  void vscode.window.showWarningMessage(
    vscode.l10n.t("PT Lens: The source file {0} does not exist on this machine. Open the folder that contains it and try again.", recorded),
  );
}

/** Returns the current position of a 0-based line of the measured text. */
export type CurrentLine = (uri: vscode.Uri, line: number) => Promise<number>;
