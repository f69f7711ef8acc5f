// Show Line Time: how often each line of the file in the editor was executed and how long its own instructions
// took. The helper goes through the trace once more for it and remembers the result; the ends of the lines and the
// hovers tell it from then on, until the recording is closed.
import path from "node:path";
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import type { LineDecorations } from "./line-decorations";
import type { Log } from "../errors/log";
import { withProgress } from "../base/progress";
import type { Result } from "../protocol/protocol";
import type { Session } from "../recordings/session";

export class LineTimeCommand {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly decorations: LineDecorations,
    private readonly log: Log,
  ) {}

  /** Of the file in the active editor, of the active recording. */
  async run(): Promise<void> {
    try {
      const { active } = this.session;
      const file = vscode.window.activeTextEditor?.document.uri;
      if (active === undefined || file?.scheme !== "file") {
        void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: line time needs a recording and a source file in the editor."));
        return;
      }
      const { id } = await this.session.opened(active.key);
      this.#tell(
        await withProgress(vscode.l10n.t("PT Lens: line time of {0}", path.basename(file.fsPath)), (onProgress, token) =>
          this.client.requestWithProgress("ptlens/lineTime", { id, file: file.fsPath }, this.client.newProgressToken(), onProgress, token),
        ),
      );
    } catch (error) {
      this.log.report(vscode.l10n.t("show the line time"), error);
    }
  }

  #tell({ line_time: times }: Result<"ptlens/lineTime">): void {
    if (times === null) {
      void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: a recording by probes has no line time, it takes Intel PT."));
      return;
    }
    this.decorations.refresh();
  }
}
