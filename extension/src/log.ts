// The output channel, and how failures reach the user.
import * as vscode from "vscode";
import { failureOf, failureText, HelperEnded } from "./error-text";
import { HelperUnusable } from "./helper";
import type { ErrorKind } from "./protocol";

export class Log implements vscode.Disposable {
  readonly channel = vscode.window.createOutputChannel("PT Lens", { log: true });

  info(text: string): void {
    this.channel.info(text);
  }

  /** Logs it without a message on the screen; answers what it says. */
  note(doing: string, error: unknown): string {
    const text = failureText(failureOf(error));
    this.channel.warn(`${doing}: ${text}`);
    return text;
  }

  /** Logs it and, unless it is the user's own cancellation, shows it with its remedy. */
  report(doing: string, error: unknown): void {
    const failure = failureOf(error);
    if (error instanceof HelperEnded) {
      this.channel.warn(`${doing}: ${failure.message}`);
      return;
    }
    if (failure.kind === "cancelled") {
      this.channel.info(`${doing}: cancelled`);
      return;
    }
    const text = failureText(failure);
    this.channel.error(`${doing}: ${text}`);
    const [label, command, ...args] = remedyOf(error, failure.kind);
    const link = `[${vscode.l10n.t("Show Log")}](command:ptlens.showLog)`;
    void vscode.window.showErrorMessage(`PT Lens: ${withoutLinks(text)} ${link}`, label).then((choice) => {
      if (choice === label) void vscode.commands.executeCommand(command, ...args);
    });
  }

  dispose(): void {
    this.channel.dispose();
  }
}

/** A message may name functions and files of anyone: nothing in it becomes a link. */
function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

/** The one action that mends what failed: its label, its command and that one's arguments. */
function remedyOf(error: unknown, kind: ErrorKind): [label: string, command: string, ...args: unknown[]] {
  if (error instanceof HelperUnusable) return [vscode.l10n.t("Open Settings"), "workbench.action.openSettings", "ptlens.helperPath"];
  // What the extension itself refuses says what to do; the choices are at hand.
  if (error instanceof Error && !("data" in error)) kind = "not_found";
  switch (kind) {
    case "no_rights":
      return [vscode.l10n.t("Grant Rights"), "ptlens.grantRights"];
    case "unsupported":
    case "failed":
      return [vscode.l10n.t("Check This Machine"), "ptlens.doctor"];
    case "gone":
      return [vscode.l10n.t("Choose a Process"), "ptlens.measureLatency"];
    case "bad_input":
      return [vscode.l10n.t("Open Another Recording…"), "ptlens.openRecording"];
    case "not_found":
    case "ambiguous":
    case "cancelled":
      return [vscode.l10n.t("What Can Be Done"), "ptlens.actions"];
  }
}
