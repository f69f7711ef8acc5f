// The status bar: what is shown, and while a measurement runs, the button that ends it.
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Session } from "./session";
import { formatCount, formatDuration } from "./units";

export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("ptlens.status", vscode.StatusBarAlignment.Left, 0);
  readonly #subscription: vscode.Disposable;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
  ) {
    this.#item.name = "PT Lens";
    this.#subscription = session.onDidChange(() => {
      this.#showSession();
    });
  }

  /** Until the returned object is disposed of, a click ends the measurement and keeps it. */
  recording(): vscode.Disposable {
    void vscode.commands.executeCommand("setContext", "ptlens.recording", true);
    this.#item.text = "$(debug-stop) Stop measuring";
    this.#item.tooltip = "PT Lens: stop now and show what was measured";
    this.#item.command = "ptlens.finish";
    this.#item.show();
    return new vscode.Disposable(() => {
      void vscode.commands.executeCommand("setContext", "ptlens.recording", false);
      this.#showSession();
    });
  }

  #showSession(): void {
    const recording = this.session.recording;
    if (recording === undefined) {
      this.#item.hide();
      return;
    }
    const lost = recording.lost_ns > 0 || recording.lost_records > 0 || recording.decode_errors > 0;
    this.#item.text = `${lost ? "$(warning)" : "$(pulse)"} PT Lens`;
    const text = new vscode.MarkdownString();
    text.appendText(`${recording.path}\n`);
    text.appendText(
      `${recording.backend}, ${formatDuration(recording.trace_ns)} traced, ${formatDuration(recording.lost_ns)} lost, ` +
        `${formatCount(recording.threads)} threads\n`,
    );
    const helper = this.client.helper;
    if (helper !== undefined) text.appendText(`helper ${helper.version}: ${helper.path}`);
    this.#item.tooltip = text;
    this.#item.command = "ptlens.showFlameGraph";
    this.#item.show();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#item.dispose();
  }
}
