// Bundle Recording…: the recording with its binaries in one file, to be opened on another machine.
import path from "node:path";
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import { withSteps } from "./long-work";
import type { Params, Result } from "./protocol";
import type { RecordingItem, Session } from "./session";
import { folderOf, readSettings } from "./settings";
import { formatBytes, formatCount } from "./units";

/** A recording by its path, with what it has to be opened with. */
interface Subject {
  readonly name: string;
  readonly path: string;
  readonly openedWith: Partial<Params<"ptlens/open">>;
}

export class BundleCommand {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly list: vscode.TreeView<RecordingItem>,
    private readonly log: Log,
  ) {}

  /** `argument`: a row of the list, or {path} of any recording and {output}; what is missing is asked for. */
  async run(argument: unknown): Promise<void> {
    try {
      const { key, path: where, output } = (typeof argument === "object" && argument !== null ? argument : {}) as Record<string, unknown>;
      const subject = typeof where === "string" && where !== "" ? this.#at(where, key) : await this.#chosen();
      if (subject === undefined) return;
      const file = typeof output === "string" && output !== "" ? output : await ask(subject);
      if (file === undefined) return;
      const { name, path, openedWith } = subject;
      const params = { ...openedWith, path, output: file, source_map: readSettings().sourceMap };
      const made = await withSteps(vscode.l10n.t("PT Lens: bundling {0}", name), (onStep, token) =>
        this.client.requestWithProgress("ptlens/bundle", params, this.client.newProgressToken(), onStep, token),
      );
      this.#tell(made);
    } catch (error) {
      this.log.report(vscode.l10n.t("bundle the recording"), error);
    }
  }

  #at(where: string, key: unknown): Subject {
    const { active, recordings } = this.session;
    const known = this.session.find(typeof key === "string" ? key : undefined) ?? [active, ...recordings].find((item) => item?.path === where);
    if (known !== undefined) return known;
    const { symfs, kallsyms, kcore } = readSettings();
    return { name: path.basename(where), path: where, openedWith: { symfs, kallsyms, kcore } };
  }

  /** Selected in the list on the screen, else the active one, else the user says. */
  async #chosen(): Promise<Subject | undefined> {
    const item = this.session.find(this.list.visible ? this.list.selection[0]?.key : undefined) ?? this.session.active;
    if (item !== undefined) return item;
    const items = this.session.recordings.map((each) => ({ label: each.name, description: each.target, detail: each.path, item: each }));
    if (items.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: nothing is measured yet. Measure a function or open a recording."));
      return undefined;
    }
    return (await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Bundle recording"), matchOnDetail: true }))?.item;
  }

  #tell({ path: file, files, bytes, missing }: Result<"ptlens/bundle">): void {
    const text = vscode.l10n.t(
      "PT Lens: {0} holds the recording and {1} binaries, {2}.",
      path.basename(file),
      formatCount(files),
      formatBytes(bytes),
    );
    if (missing.length === 0) {
      void vscode.window.showInformationMessage(text);
      return;
    }
    this.log.channel.warn(`not in the bundle:\n${missing.join("\n")}`);
    const shown = missing.slice(0, 3).join("; ");
    void vscode.window.showWarningMessage(`${text} ${vscode.l10n.t("Not found, the log has them all: {0}", shown)}`);
  }
}

/** Where to; offered are the name of the recording, and the folder that holds it or what is worked on. */
async function ask({ name, path: recording }: Subject): Promise<string | undefined> {
  const file = `${name.replace(/[^\w.-]+/g, "_")}.ptlens`;
  const folder = folderOf()?.uri.fsPath ?? path.dirname(recording);
  const chosen = await vscode.window.showSaveDialog({
    title: vscode.l10n.t("Bundle {0} with its binaries", name),
    saveLabel: vscode.l10n.t("Bundle"),
    defaultUri: vscode.Uri.file(path.join(folder, file)),
    filters: { "PT Lens": ["ptlens"] },
  });
  return chosen?.fsPath;
}
