// What can be done with a recording of the list.
import { stat } from "node:fs/promises";
import path from "node:path";
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import type { Panel } from "./panel";
import type { RecordingItem, Session } from "./session";

export class RecordingCommands {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly panel: Panel,
    private readonly list: vscode.TreeView<RecordingItem>,
    private readonly log: Log,
  ) {}

  register(): vscode.Disposable[] {
    const command = (name: string, doing: string, work: (item: RecordingItem) => Promise<void>): vscode.Disposable =>
      vscode.commands.registerCommand(`ptlens.recording.${name}`, async (argument: unknown) => {
        try {
          const item = await this.#chosen(argument, doing);
          if (item !== undefined) await work(item);
        } catch (error) {
          this.log.report(doing, error);
        }
      });
    return [
      command("activate", vscode.l10n.t("show the recording"), (item) => this.#activate(item)),
      command("compare", vscode.l10n.t("compare with the recording"), (item) => this.session.compareWith(item.key)),
      command("rename", vscode.l10n.t("rename the recording"), (item) => this.#rename(item)),
      command("remove", vscode.l10n.t("remove the recording from the list"), (item) => this.session.remove(item.key)),
      command("delete", vscode.l10n.t("delete the recording"), (item) => this.#delete(item)),
      command("reveal", vscode.l10n.t("reveal the recording"), (item) => reveal(item)),
      command("copyPath", vscode.l10n.t("copy the path"), async (item) => vscode.env.clipboard.writeText(item.path)),
      vscode.commands.registerCommand("ptlens.stopComparing", () => this.session.compareWith(undefined)),
    ];
  }

  /** The row that the command was called on, or that is selected in the list on the screen; else it asks. */
  async #chosen(argument: unknown, doing: string): Promise<RecordingItem | undefined> {
    const key = typeof argument === "string" ? argument : (argument as Partial<RecordingItem> | undefined)?.key;
    const selected = this.list.visible ? this.list.selection[0]?.key : undefined;
    const named = this.session.find(key ?? selected);
    if (named !== undefined) return named;
    const items = this.session.recordings.map((item) => ({ label: item.name, description: item.target, detail: item.path, item }));
    const picked = await vscode.window.showQuickPick(items, { title: `PT Lens: ${doing}`, matchOnDetail: true });
    return picked?.item;
  }

  async #activate(item: RecordingItem): Promise<void> {
    await this.session.activate(item.key);
    await this.panel.follow(item.functions[0]);
  }

  async #rename(item: RecordingItem): Promise<void> {
    const name = await vscode.window.showInputBox({
      title: vscode.l10n.t("Rename {0}", item.name),
      value: item.name,
      validateInput: (text) => (text.trim() === "" ? vscode.l10n.t("A recording needs a name.") : undefined),
    });
    if (name !== undefined) this.session.rename(item.key, name.trim());
  }

  async #delete(item: RecordingItem): Promise<void> {
    const all = item.missing ? [] : await filesOf(item.path);
    const what = vscode.l10n.t("Delete {0} and its files?", item.name);
    const detail = [item.path, ...(all.length > 0 ? [] : [vscode.l10n.t("PT Lens did not make this folder: only its entry on the list goes.")])].join("\n");
    const yes = vscode.l10n.t("Delete");
    if ((await vscode.window.showWarningMessage(what, { modal: true, detail }, yes)) !== yes) return;
    if (all.length > 0) await this.client.request("ptlens/cache", { path: item.path, ...item.openedWith, remove: true });
    await this.session.remove(item.key);
    for (const uri of all) await vscode.workspace.fs.delete(uri, { recursive: true });
  }
}

/** What deleting a recording deletes: a file, or a folder that `ptlens record` made; nothing of any other folder. */
async function filesOf(where: string): Promise<vscode.Uri[]> {
  const exists = async (file: string): Promise<boolean> => stat(file).then(() => true, () => false);
  if (!(await stat(where)).isDirectory()) return [vscode.Uri.file(where)];
  const made = (await exists(path.join(where, "manifest.json"))) && (await exists(path.join(where, "perf.data")));
  return made ? [vscode.Uri.file(where)] : [];
}

async function reveal(item: RecordingItem): Promise<void> {
  const uri = vscode.Uri.file(item.path);
  if (vscode.workspace.getWorkspaceFolder(uri) !== undefined) {
    await vscode.commands.executeCommand("revealInExplorer", uri);
  } else if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand("revealFileInOS", uri);
  } else {
    const copy = vscode.l10n.t("Copy Path");
    const chosen = await vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: the recording is at {0}.", item.path), copy);
    if (chosen === copy) await vscode.env.clipboard.writeText(item.path);
  }
}
