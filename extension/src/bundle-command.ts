// Bundle Recording…: the recording with its binaries in one file, to be opened on another machine.
import path from "node:path";
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import { withSteps } from "./long-work";
import type { Session } from "./session";
import { formatBytes, formatCount } from "./units";

export class BundleCommand {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly log: Log,
  ) {}

  /** `argument`: {path} of a recording of the list and {output}; without, the active one, and the user is asked. */
  async run(argument: unknown): Promise<void> {
    try {
      const { path: wanted, output } = (typeof argument === "object" && argument !== null ? argument : {}) as Record<string, unknown>;
      if (typeof wanted === "string" && wanted !== "" && wanted !== this.session.active?.path) {
        await vscode.commands.executeCommand("ptlens.openRecording", wanted);
      }
      const item = this.session.active;
      const recording = await this.session.ready();
      if (item === undefined || recording === undefined) {
        void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: nothing is measured yet. Measure a function or open a recording."));
        return;
      }
      const file = typeof output === "string" && output !== "" ? output : await ask(item.path, item.name);
      if (file === undefined) return;
      const made = await withSteps(vscode.l10n.t("PT Lens: bundling {0}", item.name), (onStep, token) =>
        this.client.requestWithProgress("ptlens/bundle", { id: recording.id, output: file }, this.client.newProgressToken(), onStep, token),
      );
      const { missing } = made;
      const text = vscode.l10n.t(
        "PT Lens: {0} holds the recording and {1} binaries, {2}.",
        path.basename(made.path),
        formatCount(made.files),
        formatBytes(made.bytes),
      );
      if (missing.length === 0) {
        void vscode.window.showInformationMessage(text);
      } else {
        this.log.channel.warn(`not in the bundle:\n${missing.join("\n")}`);
        const shown = missing.slice(0, 3).join("; ");
        void vscode.window.showWarningMessage(`${text} ${vscode.l10n.t("Not found, the log has them all: {0}", shown)}`);
      }
    } catch (error) {
      this.log.report(vscode.l10n.t("bundle the recording"), error);
    }
  }
}

async function ask(recording: string, name: string): Promise<string | undefined> {
  const file = `${name.replace(/[^\w.-]+/g, "_")}.ptlens`;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? path.dirname(recording);
  const chosen = await vscode.window.showSaveDialog({
    title: vscode.l10n.t("Bundle recording"),
    saveLabel: vscode.l10n.t("Bundle"),
    defaultUri: vscode.Uri.file(path.join(folder, file)),
    filters: { "PT Lens bundle": ["ptlens"] },
  });
  return chosen?.fsPath;
}
