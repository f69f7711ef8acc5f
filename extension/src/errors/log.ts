// The output channel, and the messages that report failures.
import * as vscode from "vscode";
import { errorButtons } from "./error-actions";
import { failureOf, failureText } from "./failure";

export class Log implements vscode.Disposable {
  readonly channel = vscode.window.createOutputChannel("PT Lens", { log: true });

  info(text: string): void {
    this.channel.info(text);
  }

  /** Logs a failure without showing a message. Returns its text. */
  warn(operation: string, error: unknown): string {
    const text = failureText(failureOf(error));
    this.channel.warn(`${operation}: ${text}`);
    return text;
  }

  /**
   * Logs a failure and shows it with its actions. A cancellation, and the end of the helper, show no message here.
   * `repeat` runs the failed command again.
   */
  report(operation: string, error: unknown, repeat?: () => Promise<void>): void {
    const failure = failureOf(error);
    if (failure.kind === "helper_ended") {
      this.channel.warn(`${operation}: ${failure.message}`);
      return;
    }
    if (failure.kind === "cancelled") {
      this.channel.info(`${operation}: cancelled`);
      return;
    }
    const text = failureText(failure);
    this.channel.error(`${operation}: ${text}`);
    const buttons = errorButtons(failure, repeat !== undefined);
    const message = `PT Lens: ${withoutLinks(text)} ${showLogLink()}`;
    void vscode.window.showErrorMessage(message, ...buttons.map(({ label }) => label)).then((choice) => {
      const chosen = buttons.find(({ label }) => label === choice);
      if (chosen?.command !== undefined) void vscode.commands.executeCommand(chosen.command, ...chosen.arguments);
      else if (chosen !== undefined) void repeat?.();
    });
  }

  /** Runs a command's work and reports its failure. */
  async attempt(operation: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.report(operation, error, () => this.attempt(operation, work));
    }
  }

  dispose(): void {
    this.channel.dispose();
  }
}

/** Returns a link for the text of a message. */
export function showLogLink(): string {
  return `[${vscode.l10n.t("Show Log")}](command:ptlens.showLog)`;
}

/** Recordings of others name functions and files in messages: nothing of them becomes a link. */
function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}
