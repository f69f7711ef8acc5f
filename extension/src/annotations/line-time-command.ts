// Show Line Time: how often each line of the file in the editor was executed, and how long its own instructions took.
// The helper decodes the trace once more for it and caches the result until the recording is closed. From then on, the
// ends of the lines and the hovers show it.
import path from "node:path";
import * as vscode from "vscode";
import { withProgress } from "../base/progress";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { Session } from "../recordings/session";
import type { LineDecorations } from "./line-decorations";

export class LineTimeCommand {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly decorations: LineDecorations,
    private readonly log: Log,
  ) {}

  run(): Promise<void> {
    return this.log.attempt("show the line time", async () => {
      const { active } = this.session;
      const file = vscode.window.activeTextEditor?.document.uri;
      if (active === undefined || file?.scheme !== "file") {
        void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: Line time needs a recording and a source file in the editor."));
        return;
      }
      const { id } = await this.session.opened(active.key);
      const title = vscode.l10n.t("PT Lens: Timing the lines of {0}", path.basename(file.fsPath));
      const { line_time: times } = await withProgress(title, (onProgress, token) =>
        this.client.requestWithProgress("ptlens/lineTime", { id, file: file.fsPath }, onProgress, token),
      );
      if (times === null) {
        void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: Line time needs Intel PT. This recording was made without it."));
      } else {
        this.decorations.refresh();
      }
    });
  }
}
