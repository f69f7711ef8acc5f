// The panel beside the editor: all functions or one function. The panel stores its content, because VS Code discards the
// page of a hidden panel and later runs its script again. The page asks for what its views need.
import * as vscode from "vscode";
import { failureOf, failureText } from "../errors/failure";
import type { Log } from "../errors/log";
import { withCandidates } from "../functions/candidates";
import { selectorOf } from "../functions/function-selector";
import type { Client } from "../helper/client";
import type { FunctionSelector, PartialReport, Recording, Report } from "../protocol/protocol";
import type { ResultView } from "../recordings/result-view";
import type { Session } from "../recordings/session";
import { revealSource } from "../source/reveal";
import { EditWatch } from "./edit-watch";
import { offerToRepeat } from "./not-called";
import { panelHtml } from "./panel-html";
import { panelMethods, type Ask, type Baseline, type FromPanel, type PanelMethod, type PanelSection, type ToPanel } from "./panel-messages";
import { findSlowCall } from "./slow-call";

export class Panel implements ResultView, vscode.Disposable {
  readonly #subscriptions: readonly vscode.Disposable[];
  readonly #edits: EditWatch;
  #panel: vscode.WebviewPanel | undefined;
  /** Key of the recording whose results are shown. */
  #recording: string | undefined;
  #main: ToPanel | undefined;
  /** The title of the panel with #main. */
  #title = "PT Lens";
  /** The report so far while a trace is decoded; shown instead of #main. */
  #partial: PartialReport | undefined;
  /** The section to show as soon as the webview is ready. */
  #pendingSection: PanelSection | undefined;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly client: Client,
    private readonly session: Session,
    private readonly log: Log,
  ) {
    this.#edits = new EditWatch(client, (edited) => { this.#post({ type: "edited", edited }); });
    this.#subscriptions = [
      client.onPartial((report) => {
        this.#showPartial(report);
      }),
      session.onDidChange(() => {
        const active = session.active?.key;
        // The results stay valid while the helper is not running.
        if (active === this.#recording) {
          if (this.#main?.type === "function") this.#post({ type: "baseline", ...this.#baseline() });
          return;
        }
        this.#recording = active;
        this.#main = undefined;
        if (active === undefined) this.#panel?.dispose();
      }),
    ];
  }

  async showOverview(): Promise<void> {
    const recording = await this.session.ready();
    if (recording === undefined) return;
    const functions = await this.client.request("ptlens/functions", { id: recording.id });
    if (!this.#isCurrent(recording)) return;
    this.#showMain("PT Lens", { type: "overview", functions, ...this.#made() });
  }

  /** Shows a new measurement: its function, or all functions unless exactly one was measured. Says which were not called. */
  async showMeasured(functions: readonly FunctionSelector[]): Promise<void> {
    const [first, ...others] = functions;
    if (first !== undefined && others.length === 0) {
      const report = await this.showFunction(first);
      offerToRepeat(report === undefined ? [] : [report]);
      return;
    }
    await this.showOverview();
    const recording = this.session.recording;
    if (recording === undefined) return;
    const reports = await Promise.allSettled(functions.map((each) => this.client.request("ptlens/report", { id: recording.id, function: each })));
    offerToRepeat(reports.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
  }

  /** Shows a function and returns its report. `inlined`: also counts inlined executions; `section`: scrolls to it. */
  async showFunction(
    selector: FunctionSelector,
    { inlined = false, section }: { inlined?: boolean; section?: PanelSection | undefined } = {},
  ): Promise<Report | undefined> {
    const recording = await this.session.ready();
    if (recording === undefined) return undefined;
    const [report, chosen] = await withCandidates(selector, async (each) => {
      const params = { id: recording.id, function: each, ...(inlined ? { inlined } : {}) };
      return [await this.client.request("ptlens/report", params), each] as const;
    }).catch((error: unknown) => {
      this.#showFailure(error);
      throw error;
    });
    if (!this.#isCurrent(recording)) return undefined;
    this.#showMain(`PT Lens: ${report.function.name}`, { type: "function", report, selector: chosen, ...this.#made(), ...this.#baseline() });
    if (section !== undefined) this.#goTo(section);
    return report;
  }

  /** Shows the failure in place of the results of another recording, which an open panel still shows. */
  #showFailure(error: unknown): void {
    if (this.#main === undefined) this.#post({ type: "failed", text: failureText(failureOf(error)), instead: true });
  }

  /** Shows the call that took longer than `threshold` ns: its figures, its flame graph, and the calls before it. */
  async showSlowCall(selector: FunctionSelector, threshold: number): Promise<void> {
    const recording = await this.session.ready();
    if (recording === undefined) return;
    const slowCall = await findSlowCall(this.client, recording.id, selector, threshold);
    if (slowCall === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: No call took that long before the recording ended. The panel shows all recorded calls."));
      await this.showMeasured([selector]);
      return;
    }
    const report = await this.client.request("ptlens/report", { id: recording.id, function: selector });
    if (!this.#isCurrent(recording)) return;
    this.#showMain(`PT Lens: ${vscode.l10n.t("slow {0}", report.function.name)}`, { type: "function", report, selector, slowCall, ...this.#made(), ...this.#baseline() });
  }

  /** Shows the active recording if the panel is open: the function if the recording contains it, else all functions. */
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

  /** Opens the panel with its last content. */
  async reveal(): Promise<void> {
    await vscode.commands.executeCommand("setContext", "ptlens.resultRead", this.session.active !== undefined);
    if (this.session.active === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("PT Lens: There are no results yet. Measure a function or open a recording."));
    } else if (this.#main === undefined) {
      await this.showOverview();
    } else {
      this.#open(this.#title);
    }
  }

  /** Whether the recording is still the active one after a request. */
  #isCurrent({ id }: Recording): boolean {
    return this.session.recording?.id === id;
  }

  #baseline(): { baseline?: Baseline } {
    const item = this.session.baseline;
    return item === undefined ? {} : { baseline: { name: item.name, path: item.path, made: item.when } };
  }

  /** When the active recording was made. */
  #made(): { made?: number } {
    const item = this.session.active;
    return item === undefined ? {} : { made: item.when };
  }

  #showMain(title: string, message: ToPanel): void {
    this.#partial = undefined;
    this.#main = message;
    this.#title = title;
    this.#edits.watch(message.type === "function" ? message.report.function : undefined);
    this.#open(title).title = title;
    this.#post(message);
  }

  #showPartial(report: PartialReport | undefined): void {
    const hadPartial = this.#partial !== undefined;
    this.#partial = report;
    if (report !== undefined) {
      if (!hadPartial) this.#open(`PT Lens: ${report.function.name}`).title = `PT Lens: ${report.function.name}`;
      this.#post({ type: "partial", report });
    } else if (hadPartial && this.#main === undefined) {
      this.#panel?.dispose();
    } else if (hadPartial) {
      if (this.#panel !== undefined) this.#panel.title = this.#title;
      this.#postContent();
    }
  }

  /** Scrolls to a section; a webview that is not ready does so later. */
  #goTo(section: PanelSection): void {
    this.#pendingSection = section;
    this.#post({ type: "goTo", section });
  }

  /** Answers a request of the webview about the active recording. */
  async #answer({ ask, method, params, ofBaseline = false }: Ask): Promise<void> {
    try {
      if (!panelMethods.includes(method)) throw new Error(`The panel may not ask ${method}.`);
      const active = await this.session.ready();
      const { baselineRecording } = this.session;
      const recording = ofBaseline ? baselineRecording : active;
      if (recording === undefined || (method === "ptlens/diff" && baselineRecording === undefined)) throw new Error(vscode.l10n.t("The recording is closed."));
      const compared = method === "ptlens/diff" ? { baseline: baselineRecording?.id } : {};
      const result = await this.client.request<PanelMethod>(method, { ...params, ...compared, id: recording.id });
      this.#post({ type: "answer", ask, result });
    } catch (error) {
      this.#post({ type: "answer", ask, failure: failureText(failureOf(error)) });
    }
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
        if (this.#partial !== undefined) this.#post({ type: "partial", report: this.#partial });
        else this.#postContent();
        if (this.#pendingSection !== undefined) this.#post({ type: "goTo", section: this.#pendingSection });
        this.#pendingSection = undefined;
        return;
      case "overview":
        return this.showOverview();
      case "function":
        await this.showFunction(selectorOf(message.function), { inlined: message.inlined ?? false });
        return;
      case "goDeeper":
        await vscode.commands.executeCommand("ptlens.goDeeper", message.function);
        return;
      case "measureAgain":
        await vscode.commands.executeCommand("ptlens.measureAgain", this.#recording);
        return;
      case "stop":
        this.client.stopDecoding();
        return;
      case "ask":
        return this.#answer(message);
      case "chooseBaseline":
        await vscode.commands.executeCommand("ptlens.recording.compare");
        return;
      case "copy":
        await vscode.env.clipboard.writeText(message.text);
        return;
      case "reveal":
        return revealSource(message.file, message.line, (uri, line) => this.#currentLine(message.file, uri, line));
    }
  }

  #postContent(): void {
    if (this.#main === undefined) return;
    this.#post(this.#main);
    if (this.#main.type !== "function") return;
    this.#post({ type: "baseline", ...this.#baseline() });
    this.#post({ type: "edited", edited: this.#edits.isEdited });
  }

  /** Returns the current position of a 0-based line of the measured text; the same line if it was removed. */
  async #currentLine(recorded: string, uri: vscode.Uri, line: number): Promise<number> {
    const params = { recorded, file: uri.fsPath, line: line + 1 };
    const { line: current } = await this.client.request("ptlens/presentLine", params);
    return (current ?? line + 1) - 1;
  }

  #post(message: ToPanel): void {
    void this.#panel?.webview.postMessage(message);
  }

  dispose(): void {
    this.#edits.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#panel?.dispose();
  }
}
