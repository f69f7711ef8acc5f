// The commands on a recording of the list.
import { stat } from "node:fs/promises";
import path from "node:path";
import * as vscode from "vscode";
import { asRecord } from "../base/records";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import { pickRecording, selectedRecording } from "./pick-recording";
import type { ResultView } from "./result-view";
import type { RecordingItem, Session } from "./session";

export class RecordingCommands {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly view: ResultView,
    private readonly list: vscode.TreeView<RecordingItem>,
    private readonly log: Log,
  ) {}

  register(): vscode.Disposable[] {
    const command = (name: string, title: string, work: (item: RecordingItem) => Promise<void>): vscode.Disposable =>
      vscode.commands.registerCommand(`ptlens.recording.${name}`, (argument: unknown) =>
        this.log.attempt(`${name} a recording`, async () => {
          const item = await this.#chosen(argument, title);
          if (item !== undefined) await work(item);
        }),
      );
    return [
      command("activate", vscode.l10n.t("Show Recording"), (item) => this.#activate(item)),
      command("compare", vscode.l10n.t("Compare with This Recording"), (item) => this.session.compareWith(item.key)),
      command("rename", vscode.l10n.t("Rename Recording"), (item) => this.#rename(item)),
      command("remove", vscode.l10n.t("Remove Recording from List"), (item) => this.session.remove(item.key)),
      command("delete", vscode.l10n.t("Delete Recording"), (item) => this.#delete(item)),
      command("reveal", vscode.l10n.t("Reveal Recording"), (item) => reveal(item)),
      vscode.commands.registerCommand("ptlens.compare", () => this.log.attempt("compare recordings", () => this.#compare())),
      vscode.commands.registerCommand("ptlens.stopComparing", () => this.session.compareWith(undefined)),
    ];
  }

  /** Returns the row that the command was called on, else the one that is selected in the visible list, else asks. */
  async #chosen(argument: unknown, title: string): Promise<RecordingItem | undefined> {
    const key = typeof argument === "string" ? argument : asRecord(argument).key;
    const item = typeof key === "string" ? this.session.find(key) : selectedRecording(this.session, this.list);
    return item ?? pickRecording(this.session.recordings, title);
  }

  async #activate(item: RecordingItem): Promise<void> {
    await this.session.activate(item.key);
    await this.view.follow(item.functions[0]);
  }

  /** Asks what to compare the active recording with, and shows the result. */
  async #compare(): Promise<void> {
    const others = this.session.recordings.filter(({ key }) => key !== this.session.active?.key);
    const item = await pickRecording(others, vscode.l10n.t("Compare {0} with", this.session.active?.name ?? ""));
    if (item === undefined) return;
    await this.session.compareWith(item.key);
    await vscode.commands.executeCommand("ptlens.showFlameGraph");
  }

  async #rename(item: RecordingItem): Promise<void> {
    const name = await vscode.window.showInputBox({
      title: vscode.l10n.t("Rename {0}", item.name),
      value: item.name,
      validateInput: (text) => (text.trim() === "" ? vscode.l10n.t("Enter a name.") : undefined),
    });
    if (name !== undefined) this.session.rename(item.key, name.trim());
  }

  async #delete(item: RecordingItem): Promise<void> {
    const files = item.missing ? [] : await filesOf(item.path);
    const question = vscode.l10n.t("Delete {0} and its files?", item.name);
    const detail = [item.path, ...(files.length > 0 ? [] : [vscode.l10n.t("PT Lens did not create this folder. Only the entry in the list is removed.")])].join("\n");
    const confirm = vscode.l10n.t("Delete");
    if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, confirm)) !== confirm) return;
    if (files.length > 0) await this.client.request("ptlens/cache", { path: item.path, ...item.openedWith, remove: true });
    await this.session.remove(item.key);
    for (const uri of files) await vscode.workspace.fs.delete(uri, { recursive: true });
  }
}

/** Returns the files to delete: the recording's file, or a folder that `ptlens record` created. Other folders stay. */
async function filesOf(recording: string): Promise<vscode.Uri[]> {
  const exists = async (file: string): Promise<boolean> => stat(file).then(() => true, () => false);
  if (!(await stat(recording)).isDirectory()) return [vscode.Uri.file(recording)];
  const created = (await exists(path.join(recording, "manifest.json"))) && (await exists(path.join(recording, "perf.data")));
  return created ? [vscode.Uri.file(recording)] : [];
}

async function reveal(item: RecordingItem): Promise<void> {
  const uri = vscode.Uri.file(item.path);
  if (vscode.workspace.getWorkspaceFolder(uri) !== undefined) {
    await vscode.commands.executeCommand("revealInExplorer", uri);
  } else if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand("revealFileInOS", uri);
  } else {
    const copy = vscode.l10n.t("Copy Path");
    const chosen = await vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: The recording is at {0}.", item.path), copy);
    if (chosen === copy) await vscode.env.clipboard.writeText(item.path);
  }
}
