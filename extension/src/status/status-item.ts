// The status bar item: the backend and the state of the helper; while a measurement runs, a button that stops it.
import * as vscode from "vscode";
import { backendName } from "../base/backend-name";
import type { Client } from "../helper/client";
import { askDoctor } from "../machine/doctor";
import type { DoctorResult } from "../protocol/protocol";
import { isLossy } from "../recordings/recording-entry";
import { recordingTooltip } from "../recordings/recording-text";
import type { Session } from "../recordings/session";
import { isMeasurable } from "../source/languages";

type State = "off" | "ready" | "failed";

export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("ptlens.status", vscode.StatusBarAlignment.Left, 0);
  readonly #subscriptions: readonly { dispose(): unknown }[];
  #state: State = "off";
  #measuring = false;
  #backend: DoctorResult["backend"] | undefined;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
  ) {
    this.#item.name = "PT Lens";
    const draw = (): void => {
      this.#draw();
    };
    this.#subscriptions = [
      this.#item,
      session.onDidChange(draw),
      vscode.window.onDidChangeActiveTextEditor(draw),
      client.onDidStart(() => {
        this.#set("ready");
        if (this.#backend === undefined) void this.#askBackend();
      }),
      client.onDidStop(() => {
        this.#set("off");
      }),
      client.onDidFail(() => {
        if (!client.isRunning) this.#set("failed");
      }),
    ];
    this.#draw();
  }

  /** Shows the backend that the helper found. */
  setBackend(backend: DoctorResult["backend"]): void {
    this.#backend = backend;
    void vscode.commands.executeCommand("setContext", "ptlens.canMeasure", backend !== "none");
    this.#draw();
  }

  /** Turns the item into a Stop button until the returned object is disposed. */
  showStop(): vscode.Disposable {
    void vscode.commands.executeCommand("setContext", "ptlens.recording", true);
    this.#measuring = true;
    this.#draw();
    return new vscode.Disposable(() => {
      void vscode.commands.executeCommand("setContext", "ptlens.recording", false);
      this.#measuring = false;
      this.#draw();
    });
  }

  async #askBackend(): Promise<void> {
    try {
      this.setBackend((await askDoctor(this.client)).backend);
    } catch {
      // The backend stays unknown until the user checks the machine.
    }
  }

  #set(state: State): void {
    this.#state = state;
    this.#draw();
  }

  #draw(): void {
    if (this.#measuring) {
      this.#item.text = `$(debug-stop) ${vscode.l10n.t("Stop and show results")}`;
      this.#item.tooltip = vscode.l10n.t("PT Lens: Stop the measurement and show its results");
      this.#item.command = "ptlens.finish";
      this.#item.show();
      return;
    }
    const { active } = this.session;
    const editor = vscode.window.activeTextEditor;
    if (active === undefined && this.#state === "off" && (editor === undefined || !isMeasurable(editor.document))) {
      this.#item.hide();
      return;
    }
    const hasProblem = this.#state === "failed" || this.#backend === "none" || (active !== undefined && isLossy(active.figures));
    this.#item.text = [`${hasProblem ? "$(warning)" : "$(pulse)"} PT Lens`, ...this.#backendText()].join(" · ");
    this.#item.tooltip = this.#tooltip();
    this.#item.command = "ptlens.actions";
    this.#item.accessibilityInformation = { label: ["PT Lens", ...this.#backendText(), this.#stateText()].join(", "), role: "button" };
    this.#item.show();
  }

  #backendText(): string[] {
    if (this.#backend === undefined) return [];
    return [this.#backend === "none" ? vscode.l10n.t("cannot measure") : backendName(this.#backend)];
  }

  #stateText(): string {
    switch (this.#state) {
      case "off":
        return vscode.l10n.t("helper not started");
      case "ready":
        return vscode.l10n.t("ready");
      case "failed":
        return vscode.l10n.t("helper ended");
    }
  }

  #tooltip(): vscode.MarkdownString {
    const text = new vscode.MarkdownString();
    text.appendText([...this.#backendText(), this.#stateText()].join(" · "));
    const { helper } = this.client;
    if (helper !== undefined) text.appendMarkdown("\n\n").appendText(vscode.l10n.t("helper {0}: {1}", helper.version, helper.path));
    const { active, baseline } = this.session;
    if (active !== undefined) text.appendMarkdown("\n\n---\n\n").appendMarkdown(recordingTooltip(active).value);
    if (baseline !== undefined) text.appendMarkdown("\n\n").appendText(vscode.l10n.t("compared with {0}", baseline.name));
    return text;
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
