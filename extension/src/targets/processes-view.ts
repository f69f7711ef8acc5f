// The Processes view in the side bar, refreshed while it is visible.
import * as vscode from "vscode";
import { ListView } from "../base/list-view";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { Process } from "../protocol/protocol";
import { isMeasurable } from "../source/languages";
import { cpuText } from "./cpu-text";

/** ms */
const refreshInterval = 3000;

export class ProcessesView extends ListView<Process> {
  #timer: NodeJS.Timeout | undefined;
  #processes: readonly Process[] = [];
  #failed = false;

  constructor(
    private readonly client: Client,
    private readonly log: Log,
  ) {
    super("ptlens.processes");
    this.own(
      this.view.onDidChangeVisibility(() => {
        this.#failed = false;
        void this.#refresh();
      }),
      vscode.commands.registerCommand("ptlens.processes.refresh", () => {
        this.#failed = false;
        return this.#refresh();
      }),
      vscode.commands.registerCommand("ptlens.processes.measure", (process: Process) => measure(process)),
    );
  }

  protected override rows(): Process[] {
    return [...this.#processes];
  }

  override getTreeItem(process: Process): vscode.TreeItem {
    const item = new vscode.TreeItem(process.name);
    item.id = `${String(process.pid)} ${String(process.start_time)}`;
    item.description = [
      String(process.pid),
      process.user,
      ...cpuText(process.cpu_percent),
      ...(process.has_source ? [vscode.l10n.t("built from the open file")] : []),
    ].join(" · ");
    item.tooltip = process.command;
    item.iconPath = new vscode.ThemeIcon(process.may_attach ? "server-process" : "lock");
    item.contextValue = process.may_attach ? "process" : "process locked";
    return item;
  }

  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.view.visible || this.#failed) return;
    try {
      const editor = vscode.window.activeTextEditor;
      const file = editor !== undefined && isMeasurable(editor.document) ? editor.document.uri.fsPath : undefined;
      const { processes } = await this.client.request("ptlens/processes", file === undefined ? {} : { source: file });
      const rank = (process: Process): number => (process.has_source ? 1e9 : 0) + (process.may_attach ? 1e6 : 0) + Math.round(process.cpu_percent);
      this.#processes = [...processes].sort((a, b) => rank(b) - rank(a) || a.name.localeCompare(b.name) || a.pid - b.pid);
      this.redraw();
    } catch (error) {
      // One message, not one every few seconds.
      this.#failed = true;
      this.log.report("list the processes", error);
      return;
    }
    this.#timer = setTimeout(() => void this.#refresh(), refreshInterval);
  }

  override dispose(): void {
    clearTimeout(this.#timer);
    super.dispose();
  }
}

/** Measures the function at the cursor; without a source file, asks for its name. */
async function measure(process: Process): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor !== undefined && isMeasurable(editor.document)) {
    await vscode.commands.executeCommand("ptlens.measureLatency", { pid: process.pid });
    return;
  }
  const name = await vscode.window.showInputBox({
    title: vscode.l10n.t("Measure {0} ({1})", process.name, String(process.pid)),
    placeHolder: vscode.l10n.t("Name of the function"),
  });
  if (name !== undefined && name.trim() !== "") {
    await vscode.commands.executeCommand("ptlens.measureLatency", { pid: process.pid, function: name.trim() });
  }
}
