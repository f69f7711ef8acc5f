// Bundle Recording: writes a recording and its binaries into one file that can be opened on another machine.
import path from "node:path";
import * as vscode from "vscode";
import { withProgress } from "../base/progress";
import { asRecord } from "../base/records";
import { folderOf, readSettings } from "../base/settings";
import { formatBytes, formatCount } from "../base/units";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { Result } from "../protocol/protocol";
import { pickRecording, selectedRecording } from "./pick-recording";
import type { RecordingEntry } from "./recording-entry";
import type { RecordingItem, Session } from "./session";

/** A recording that may not be on the list. */
type Subject = Pick<RecordingEntry, "name" | "path" | "openedWith">;

export class BundleCommand {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly list: vscode.TreeView<RecordingItem>,
    private readonly log: Log,
  ) {}

  /** `argument` is a row of the list, or {path, output} of any recording. The user is asked for what is missing. */
  run(argument: unknown): Promise<void> {
    return this.log.attempt("bundle the recording", async () => {
      const { key, path: givenPath, output: givenOutput } = asRecord(argument);
      const subject = typeof givenPath === "string" && givenPath !== "" ? this.#at(givenPath, key) : await this.#chosen();
      if (subject === undefined) return;
      const output = typeof givenOutput === "string" && givenOutput !== "" ? givenOutput : await askForOutput(subject);
      if (output === undefined) return;
      const { name, path: recording, openedWith } = subject;
      const params = { ...openedWith, path: recording, output, source_map: readSettings().sourceMap };
      const result = await withProgress(vscode.l10n.t("PT Lens: Bundling {0}", name), (onProgress, token) =>
        this.client.requestWithProgress("ptlens/bundle", params, onProgress, token),
      );
      this.#showResult(result);
    });
  }

  #at(givenPath: string, key: unknown): Subject {
    const { active, recordings } = this.session;
    const known = this.session.find(typeof key === "string" ? key : undefined) ?? [active, ...recordings].find((item) => item?.path === givenPath);
    if (known !== undefined) return known;
    const { symfs, kallsyms, kcore } = readSettings();
    return { name: path.basename(givenPath), path: givenPath, openedWith: { symfs, kallsyms, kcore } };
  }

  /** Returns the recording that is selected in the visible list, else the active one, else asks. */
  async #chosen(): Promise<Subject | undefined> {
    const item = selectedRecording(this.session, this.list) ?? this.session.active;
    if (item !== undefined) return item;
    if (this.session.recordings.length > 0) return pickRecording(this.session.recordings, vscode.l10n.t("Bundle Recording"));
    void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: There is no recording yet. Measure a function or open a recording."));
    return undefined;
  }

  #showResult({ path: file, files, bytes, missing }: Result<"ptlens/bundle">): void {
    const text = vscode.l10n.t(
      "PT Lens: {0} contains the recording and {1} binaries ({2}).",
      path.basename(file),
      formatCount(files),
      formatBytes(bytes),
    );
    if (missing.length === 0) {
      void vscode.window.showInformationMessage(text);
      return;
    }
    this.log.channel.warn(`not in the bundle:\n${missing.join("\n")}`);
    const first = missing.slice(0, 3).join("; ");
    void vscode.window.showWarningMessage(`${text} ${vscode.l10n.t("Some binaries were not found; the log lists all of them: {0}", first)}`);
  }
}

/** Asks where to write the bundle. */
async function askForOutput({ name, path: recording }: Subject): Promise<string | undefined> {
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
