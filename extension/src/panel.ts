// The panel beside the editor: all functions or one of them, and the flame graph. It keeps what it
// shows, because VS Code discards the content of a hidden panel and runs its script anew.
import * as vscode from "vscode";
import { caughtCall } from "./caught-call";
import type { Client } from "./client";
import { failureOf, failureText } from "./error-text";
import type { Log } from "./log";
import { panelHtml } from "./panel-html";
import type { FlameView, FromPanel, FunctionRef, PanelView, ToPanel } from "./panel-messages";
import type { FunctionSelector, Params, PartialReport, Report } from "./protocol";
import { revealSource } from "./reveal";
import type { Session } from "./session";

export class Panel implements vscode.Disposable {
  readonly #subscription: vscode.Disposable;
  readonly #partials: vscode.Disposable;
  #panel: vscode.WebviewPanel | undefined;
  #shown: Report | undefined;
  /** How `#shown` was asked for: it may be several functions together. */
  #selector: FunctionSelector | undefined;
  #recording: string | undefined;
  #main: ToPanel | undefined;
  #flame: ToPanel | undefined;
  /** What is shown is of these calls alone. */
  #only: Pick<Params<"ptlens/flame">, "latency" | "tid"> = {};
  #view: FlameView = { time: "wall", scope: "all" };
  /** What is known so far of a function whose trace is still being decoded; shown instead of #main. */
  #partial: PartialReport | undefined;
  #wanted: PanelView | undefined;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly client: Client,
    private readonly session: Session,
    private readonly log: Log,
  ) {
    this.#partials = client.onPartial((report) => {
      this.#showPartial(report);
    });
    this.#subscription = session.onDidChange(() => {
      const active = session.active?.key;
      // What is shown stays true while the helper is away.
      if (active === this.#recording) return;
      this.#recording = active;
      this.#shown = undefined;
      this.#main = undefined;
      this.#flame = undefined;
      if (active === undefined) this.#panel?.dispose();
    });
  }

  async showOverview(): Promise<void> {
    const recording = await this.session.ready();
    if (recording === undefined) return;
    const functions = await this.client.request("ptlens/functions", { id: recording.id });
    if (this.session.recording?.id !== recording.id) return;
    this.#shown = undefined;
    this.#only = {};
    this.#view = { time: this.#view.time, scope: "all" };
    this.#open("PT Lens").title = "PT Lens";
    this.#partial = undefined;
    this.#post((this.#main = { type: "overview", functions }));
    await this.#showFlame();
  }

  /** `inlined`: count where it was inlined as well; `view`: what to bring into sight. */
  async showFunction(
    selector: FunctionSelector,
    { inlined = false, view }: { inlined?: boolean; view?: PanelView | undefined } = {},
  ): Promise<void> {
    const recording = await this.session.ready();
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
    this.#only = {};
    this.#selector = selector;
    this.#view = { time: this.#view.time, scope: called ? "function" : "all" };
    const title = `PT Lens: ${report.function.name}`;
    this.#open(title).title = title;
    this.#partial = undefined;
    this.#post((this.#main = { type: "function", report }));
    await this.#showFlame();
    if (view !== undefined) this.#goTo(view);
  }

  /** The call that took longer than `slowerThan` ns: its figures, its flame graph, and the calls before it. */
  async showSlowCall(selector: FunctionSelector, slowerThan: number): Promise<void> {
    const recording = await this.session.ready();
    if (recording === undefined) return;
    const caught = await caughtCall(this.client, recording.id, selector, slowerThan);
    if (caught === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: no call took that long before the recording ended. All that were traced are shown."));
      return this.showFunction(selector);
    }
    const only = { latency: [caught.latency, caught.latency] as [number, number], tid: caught.tid };
    const report = await this.client.request("ptlens/report", { id: recording.id, function: selector, ...only });
    if (this.session.recording?.id !== recording.id) return;
    this.#shown = report;
    this.#selector = selector;
    this.#only = only;
    this.#view = { time: this.#view.time, scope: "function" };
    const title = `PT Lens: ${vscode.l10n.t("slow {0}", report.function.name)}`;
    this.#open(title).title = title;
    this.#partial = undefined;
    this.#post((this.#main = { type: "function", report, caught }));
    await this.#showFlame();
  }

  /** Shows the active recording where the panel is open: the function where that is there, else all. */
  async follow(selector: FunctionSelector | undefined): Promise<void> {
    if (this.#panel === undefined) return;
    if (selector === undefined) return this.showOverview();
    try {
      await this.showFunction(selector);
    } catch (error) {
      if (failureOf(error).kind !== "not_found") throw error;
      await this.showOverview();
    }
  }

  /** Brings the panel up with what it last showed. */
  async reveal(): Promise<void> {
    await vscode.commands.executeCommand("setContext", "ptlens.resultRead", this.session.active !== undefined);
    if (this.session.active === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: nothing is measured yet. Measure a function or open a recording."));
    } else if (this.#main === undefined) {
      await this.showOverview();
    } else {
      this.#open("PT Lens");
    }
  }

  #showPartial(report: PartialReport | undefined): void {
    const had = this.#partial !== undefined;
    this.#partial = report;
    if (report !== undefined) {
      if (!had) this.#open(`PT Lens: ${report.function.name}`).title = `PT Lens: ${report.function.name}`;
      this.#post({ type: "partial", report });
    } else if (had && this.#main === undefined) {
      this.#panel?.dispose();
    } else if (had) {
      this.#postShown();
    }
  }

  /** A panel that is being made asks for what it shows, and is told the view after that. */
  #goTo(view: PanelView): void {
    this.#wanted = view;
    this.#post({ type: "goTo", view });
  }

  async #showFlame(): Promise<void> {
    const recording = await this.session.ready();
    if (recording === undefined) return;
    const view = this.#view;
    const shown = view.scope === "function" ? this.#shown : undefined;
    const flame = await this.client.request("ptlens/flame", {
      id: recording.id,
      time_kind: view.time,
      ...(shown === undefined ? {} : { function: this.#selector ?? selectorOf(shown.function), ...this.#only }),
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
        this.log.report(vscode.l10n.t("show the panel"), error);
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
        if (this.#partial !== undefined) this.#post({ type: "partial", report: this.#partial });
        else this.#postShown();
        if (this.#wanted !== undefined) this.#post({ type: "goTo", view: this.#wanted });
        this.#wanted = undefined;
        return;
      case "overview":
        return this.showOverview();
      case "function":
        return this.showFunction(selectorOf(message.function), { inlined: message.inlined ?? false });
      case "flame":
        this.#view = message.view;
        return this.#showFlame();
      case "reveal":
        return revealSource(message.file, message.line, (uri, line) => this.#presentLine(message.file, uri, line));
    }
  }

  #postShown(): void {
    if (this.#main !== undefined) this.#post(this.#main);
    if (this.#flame !== undefined) this.#post(this.#flame);
  }

  /** Where a 0-based line of the measured text is now; itself where it was removed. */
  async #presentLine(recorded: string, uri: vscode.Uri, line: number): Promise<number> {
    const params = { recorded, file: uri.fsPath, line: line + 1 };
    const { line: now } = await this.client.request("ptlens/presentLine", params);
    return (now ?? line + 1) - 1;
  }

  #post(message: ToPanel): void {
    void this.#panel?.webview.postMessage(message);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#partials.dispose();
    this.#panel?.dispose();
  }
}

export function selectorOf({ name, binary, address }: FunctionRef): FunctionSelector {
  return { name, binary, ...(address === null ? {} : { address }) };
}
