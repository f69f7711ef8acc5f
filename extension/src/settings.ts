// The ptlens.* settings, read when they are needed.
import * as vscode from "vscode";
import type { Backend } from "./protocol";

export interface Settings {
  /** Program that can be started and measured, empty: none. */
  readonly program: string;
  readonly programArguments: readonly string[];
  readonly workingDirectory: string;
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

export function readSettings(): Settings {
  const values = vscode.workspace.getConfiguration("ptlens");
  return {
    program: expand(values.get<string>("program", "")),
    programArguments: values.get<string[]>("programArguments", []).map(expand),
    workingDirectory: expand(values.get<string>("workingDirectory", "")),
    duration: values.get<number>("duration", 5),
    perfPath: values.get<string>("perfPath", ""),
    backend: values.get<Backend>("backend", "auto"),
    helperPath: values.get<string>("helperPath", ""),
    recordingsFolder: expand(values.get<string>("recordingsFolder", "")),
    symfs: expand(values.get<string>("symfs", "")),
    sourceMap: Object.fromEntries(
      Object.entries(values.get<Record<string, string>>("sourceMap", {})).map(([from, to]) => [from, expand(to)]),
    ),
    kallsyms: expand(values.get<string>("kallsyms", "")),
    kcore: expand(values.get<string>("kcore", "")),
    debuginfod: values.get<boolean>("debuginfod", false),
  };
}

/** ${workspaceFolder} is the only variable. */
function expand(text: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return text.replaceAll("${workspaceFolder}", folder);
}
