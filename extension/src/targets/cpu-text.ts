import * as vscode from "vscode";

/** Returns "42 % CPU", or nothing below 1 %. */
export function cpuText(percent: number): string[] {
  return percent >= 1 ? [vscode.l10n.t("{0} % CPU", percent.toFixed(0))] : [];
}
