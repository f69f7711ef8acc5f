// The ptlens.* settings, read when they are needed.
import * as vscode from "vscode";
import type { Backend } from "../protocol/protocol";

export interface Settings {
  /** Seconds; 0: until stopped. */
  readonly duration: number;
  readonly perfPath: string;
  readonly backend: Backend;
  readonly helperPath: string;
  /** Where measurements are kept, empty: the helper's choice. */
  readonly recordingsFolder: string;
  readonly symfs: string;
  /** Where sources are here: recorded folder to folder. */
  readonly sourceMap: Readonly<Record<string, string>>;
  /** Names and code of the kernel that recordings traced, empty: what lies beside each. */
  readonly kallsyms: string;
  readonly kcore: string;
  /** Fetch what is lacking from debuginfod servers. */
  readonly debuginfod: boolean;
}

/**
 * Of the workspace folder that holds `resource`; absent: the file that is open, else the first folder. Where sources
 * are, the other folders tell as well.
 */
export function readSettings(resource: vscode.Uri | undefined = openFile()): Settings {
  const folder = folderOf(resource);
  const values = vscode.workspace.getConfiguration("ptlens", resource ?? folder?.uri ?? null);
  const text = (name: string): string => expand(values.get<string>(name, ""), folder);
  return {
    duration: values.get<number>("duration", 5),
    perfPath: values.get<string>("perfPath", ""),
    backend: values.get<Backend>("backend", "auto"),
    helperPath: values.get<string>("helperPath", ""),
    recordingsFolder: text("recordingsFolder"),
    symfs: text("symfs"),
    sourceMap: sourceMap(folder),
    kallsyms: text("kallsyms"),
    kcore: text("kcore"),
    debuginfod: values.get<boolean>("debuginfod", false),
  };
}

/** The workspace folder that holds it, else the first; undefined: no folder is open. */
export function folderOf(resource: vscode.Uri | undefined = openFile()): vscode.WorkspaceFolder | undefined {
  const holding = resource === undefined ? undefined : vscode.workspace.getWorkspaceFolder(resource);
  return holding ?? vscode.workspace.workspaceFolders?.[0];
}

/** Of all folders, as the sources of a recording may lie in several; `first` goes before the others. */
function sourceMap(first: vscode.WorkspaceFolder | undefined): Record<string, string> {
  const folders = [first, ...(vscode.workspace.workspaceFolders ?? [])];
  const map: Record<string, string> = {};
  for (const folder of folders) {
    const values = vscode.workspace.getConfiguration("ptlens", folder?.uri ?? null);
    for (const [from, to] of Object.entries(values.get<Record<string, string>>("sourceMap", {}))) map[from] ??= expand(to, folder);
  }
  return map;
}

function openFile(): vscode.Uri | undefined {
  const open = vscode.window.activeTextEditor?.document.uri;
  return open?.scheme === "file" ? open : undefined;
}

/** Replaces ${workspaceFolder} and ${workspaceFolder:NAME}, the only variables. */
export function expand(text: string, folder: vscode.WorkspaceFolder | undefined): string {
  return text.replace(/\$\{workspaceFolder(?::([^}]*))?\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return folder?.uri.fsPath ?? "";
    return vscode.workspace.workspaceFolders?.find((other) => other.name === name)?.uri.fsPath ?? whole;
  });
}
