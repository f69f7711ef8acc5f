// The panel beside the editor: all functions or one of them, and the flame graph. It keeps what it
// shows, because VS Code discards the content of a hidden panel and runs its script anew.
import * as vscode from "vscode";
import type { Client } from "./client";
import { failureOf, failureText } from "./error-text";
import type { LineTracker } from "./line-tracker";
import type { Log } from "./log";
import { panelHtml } from "./panel-html";
import type { FlameView, FromPanel, FunctionRef, ToPanel } from "./panel-messages";
import type { FunctionSelector, Report } from "./protocol";
import { revealSource } from "./reveal";
import type { Session } from "./session";

export class Panel implements vscode.Disposable {
  readonly #subscription: vscode.Disposable;
  #panel: vscode.WebviewPanel | undefined;
  #shown: Report | undefined;
  #main: ToPanel | undefined;
  #flame: ToPanel | undefined;
  #view: FlameView = { time: "wall", scope: "all" };

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly client: Client,
    private readonly session: Session,
    private readonly tracker: LineTracker,
    private readonly log: Log,
  ) {
    this.#subscription = session.onDidChange(() => {
      this.#shown = undefined;
      this.#main = undefined;
      this.#flame = undefined;
      if (session.recording === undefined) this.#panel?.dispose();
    });
  }

  async showOverview(): Promise<void> {
    const recording = this.session.recording;
    if (recording === undefined) return;
    const functions = await this.client.request("ptlens/functions", { id: recording.id });
    if (this.session.recording?.id !== recording.id) return;
    this.#shown = undefined;
    this.#view = { time: this.#view.time, scope: "all" };
    this.#open("PT Lens").title = "PT Lens";
    this.#post((this.#main = { type: "overview", functions }));
    await this.#showFlame();
  }

  async showFunction(selector: FunctionSelector, inlined = false): Promise<void> {
    const recording = this.session.recording;
    if (recording === undefined) return;
    const report = await this.client.request("ptlens/report", {
      id: recording.id,
      function: selector,
      ...(inlined ? { inlined } : {}),
    });
    if (this.session.recording?.id !== recording.id) return;
    // A function that was inlined and never called has no flame graph of its own.
    const called = report.called !== false;
    this.#shown = called ? report : undefined;
    this.#view = { time: this.#view.time, scope: called ? "function" : "all" };
    const title = `PT Lens: ${report.function.name}`;
    this.#open(title).title = title;
    this.#post((this.#main = { type: "function", report }));
    await this.#showFlame();
  }

  /** Brings the panel up with what it last showed. */
  async reveal(): Promise<void> {
    if (this.session.recording === undefined) {
      void vscode.window.showInformationMessage("PT Lens: nothing is measured yet. Measure a function or open a recording.");
    } else if (this.#main === undefined) {
      await this.showOverview();
    } else {
      this.#open("PT Lens");
    }
  }

  async #showFlame(): Promise<void> {
    const recording = this.session.recording;
    if (recording === undefined) return;
    const view = this.#view;
    const shown = view.scope === "function" ? this.#shown : undefined;
    const flame = await this.client.request("ptlens/flame", {
      id: recording.id,
      time: view.time,
      ...(shown === undefined ? {} : { function: selectorOf(shown.function) }),
    });
    if (this.session.recording?.id !== recording.id || this.#view !== view) return;
    this.#post((this.#flame = { type: "flame", view, flame }));
  }

  #open(title: string): vscode.WebviewPanel {
    if (this.#panel !== undefined) {
      this.#panel.reveal(undefined, true);
      return this.#panel;
    }
    const media = vscode.Uri.joinPath(this.extension.extensionUri, "out");
    const panel = vscode.window.createWebviewPanel(
      "ptlens.panel",
      title,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media] },
    );
    this.#panel = panel;
    panel.webview.onDidReceiveMessage((message: FromPanel) => {
      this.#receive(message).catch((error: unknown) => {
        this.log.report("show the panel", error);
        this.#post({ type: "failed", text: failureText(failureOf(error)) });
      });
    });
    panel.onDidDispose(() => {
      this.#panel = undefined;
    });
    panel.webview.html = panelHtml(panel.webview, media);
    return panel;
  }

  async #receive(message: FromPanel): Promise<void> {
    switch (message.type) {
      case "ready":
        if (this.#main !== undefined) this.#post(this.#main);
        if (this.#flame !== undefined) this.#post(this.#flame);
        return;
      case "overview":
        return this.showOverview();
      case "function":
        return this.showFunction(selectorOf(message.function), message.inlined);
      case "flame":
        this.#view = message.view;
        return this.#showFlame();
      case "reveal":
        return revealSource(message.file, message.line, (uri, line) => this.tracker.present(uri, line) ?? line);
    }
  }

  #post(message: ToPanel): void {
    void this.#panel?.webview.postMessage(message);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#panel?.dispose();
  }
}

export function selectorOf({ name, binary, address }: FunctionRef): FunctionSelector {
  return { name, binary, ...(address === null ? {} : { address }) };
}
