// The output channel, and how failures reach the user.
import * as vscode from "vscode";
import { failureOf, failureText } from "./error-text";
import { HelperUnusable } from "./helper";

export class Log implements vscode.Disposable {
  readonly channel = vscode.window.createOutputChannel("PT Lens", { log: true });

  info(text: string): void {
    this.channel.info(text);
  }

  /** Logs it and, unless it is the user's own cancellation, shows it with its remedy. */
  report(doing: string, error: unknown): void {
    const failure = failureOf(error);
    if (failure.kind === "cancelled") {
      this.channel.info(`${doing}: cancelled`);
      return;
    }
    const text = failureText(failure);
    this.channel.error(`${doing}: ${text}`);
    const settings = error instanceof HelperUnusable ? ["Open Settings"] : [];
    void vscode.window.showErrorMessage(`PT Lens: ${text}`, ...settings, "Show Log").then((choice) => {
      if (choice === "Show Log") this.channel.show();
      if (choice === "Open Settings") {
        void vscode.commands.executeCommand("workbench.action.openSettings", "ptlens.helperPath");
      }
    });
  }

  dispose(): void {
    this.channel.dispose();
  }
}
