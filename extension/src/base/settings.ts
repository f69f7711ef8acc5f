// The ptlens.* settings.
import * as vscode from "vscode";
import type { Backend } from "../protocol/protocol";

export interface Settings {
  /** Seconds; 0: until the user stops. */
  readonly duration: number;
  readonly perfPath: string;
  readonly backend: Backend;
  /** Percent of its time that a program may lose to probes. */
  readonly probeBudget: number;
  readonly helperPath: string;
  /** Folder for new recordings; empty: the default of the helper. */
  readonly recordingsFolder: string;
  readonly symfs: string;
  /** Maps a folder in a recording to a folder on this machine. */
  readonly sourceMap: Readonly<Record<string, string>>;
  /** Symbol names and code of the traced kernel; empty: the copies in the recording. */
  readonly kallsyms: string;
  readonly kcore: string;
  /** Whether to download missing debug information from debuginfod servers. */
  readonly debuginfod: boolean;
}

/**
 * Reads the settings of the workspace folder that contains `resource`. Without it: of the open file, else of the first
 * folder. `sourceMap` combines those of all folders.
 */
export function readSettings(resource: vscode.Uri | undefined = openFile()): Settings {
  const folder = folderOf(resource);
  const values = vscode.workspace.getConfiguration("ptlens", resource ?? folder?.uri ?? null);
  const text = (name: string): string => expand(values.get<string>(name, ""), folder);
  return {
    duration: values.get<number>("duration", 5),
    perfPath: values.get<string>("perfPath", ""),
    backend: values.get<Backend>("backend", "auto"),
    probeBudget: values.get<number>("probeBudget", 5),
    helperPath: values.get<string>("helperPath", ""),
    recordingsFolder: text("recordingsFolder"),
    symfs: text("symfs"),
    sourceMap: sourceMap(folder),
    kallsyms: text("kallsyms"),
    kcore: text("kcore"),
    debuginfod: values.get<boolean>("debuginfod", false),
  };
}

/** Returns the workspace folder that contains the resource, else the first one; undefined if no folder is open. */
export function folderOf(resource: vscode.Uri | undefined = openFile()): vscode.WorkspaceFolder | undefined {
  const containing = resource === undefined ? undefined : vscode.workspace.getWorkspaceFolder(resource);
  return containing ?? vscode.workspace.workspaceFolders?.[0];
}

/** Combines the maps of all folders, because a recording may have sources in several. The map of `first` has priority. */
function sourceMap(first: vscode.WorkspaceFolder | undefined): Record<string, string> {
  const folders = [first, ...(vscode.workspace.workspaceFolders ?? [])];
  const map: Record<string, string> = {};
  for (const folder of folders) {
    const values = vscode.workspace.getConfiguration("ptlens", folder?.uri ?? null);
    for (const [from, to] of Object.entries(values.get<Record<string, string>>("sourceMap", {}))) map[from] ??= expand(to, folder);
  }
  return map;
}

/** Returns the file in the active editor. */
export function openFile(): vscode.Uri | undefined {
  const open = vscode.window.activeTextEditor?.document.uri;
  return open?.scheme === "file" ? open : undefined;
}

/** Replaces ${workspaceFolder} and ${workspaceFolder:NAME}, the only supported variables. */
export function expand(text: string, folder: vscode.WorkspaceFolder | undefined): string {
  return text.replace(/\$\{workspaceFolder(?::([^}]*))?\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return folder?.uri.fsPath ?? "";
    return vscode.workspace.workspaceFolders?.find((other) => other.name === name)?.uri.fsPath ?? whole;
  });
}
