// Writes latency, calls and off-CPU at the end of every line with call sites, in the visible editors.
// Details are the helper's hover.
import * as vscode from "vscode";
import type { Client } from "./client";
import { heat, lineText, type Known } from "./decoration-text";
import { failureOf } from "./error-text";
import { isMeasurable } from "./languages";
import type { LineTracker } from "./line-tracker";
import type { Log } from "./log";
import type { LineCalls, LinesResult } from "./protocol";
import type { Session } from "./session";
import { warnIfNewer } from "./stale-source";

/** A line from this heat on is drawn in the colour of hot lines. */
const hot = 0.75;

export class LineDecorations implements vscode.Disposable {
  readonly #type = vscode.window.createTextEditorDecorationType({
    after: { margin: "0 0 0 3ch", fontStyle: "normal" },
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
  });
  readonly #results = new Map<string, Promise<LinesResult | undefined>>();
  readonly #decorated = new WeakSet<vscode.TextEditor>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly tracker: LineTracker,
    private readonly log: Log,
  ) {
    this.#subscriptions = [
      session.onDidChange(() => {
        this.#results.clear();
        tracker.reset();
        this.#drawAll();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => {
        this.#drawAll();
      }),
    ];
  }

  /** What is drawn in a document now; for tests of the real editor. */
  async options(document: vscode.TextDocument): Promise<vscode.DecorationOptions[]> {
    const recording = this.session.recording;
    if (recording === undefined || document.uri.scheme !== "file" || !isMeasurable(document.languageId)) return [];
    const result = await this.#lines(recording.id, document.uri.fsPath);
    if (result === undefined || this.session.recording?.id !== recording.id) return [];
    const hottest = Math.max(0, ...result.lines.map((row) => row.total));
    return result.lines.flatMap((row) => this.#option(document, row, hottest, recording));
  }

  #drawAll(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      this.#draw(editor).catch((error: unknown) => {
        this.log.report("annotate the lines", error);
      });
    }
  }

  async #draw(editor: vscode.TextEditor): Promise<void> {
    const options = await this.options(editor.document);
    if (options.length === 0 && !this.#decorated.has(editor)) return;
    this.#decorated.add(editor);
    editor.setDecorations(this.#type, options);
  }

  #lines(id: string, file: string): Promise<LinesResult | undefined> {
    let pending = this.#results.get(file);
    if (pending === undefined) {
      pending = this.client.request("ptlens/lines", { id, file }).catch((error: unknown) => {
        if (failureOf(error).kind === "not_found") return undefined;
        this.#results.delete(file);
        throw error;
      });
      void pending.then((result) => result && warnIfNewer(file, result)).catch(() => undefined);
      this.#results.set(file, pending);
    }
    return pending;
  }

  #option(document: vscode.TextDocument, row: LineCalls, hottest: number, known: Known): vscode.DecorationOptions[] {
    const text = lineText(row, known);
    const line = this.tracker.present(document.uri, row.line - 1);
    if (text === undefined || line === undefined || line < 0 || line >= document.lineCount) return [];
    const colour = heat(row.total, hottest) >= hot ? "ptlens.hotLineForeground" : "ptlens.lineForeground";
    return [
      {
        range: document.lineAt(line).range,
        renderOptions: { after: { contentText: text, color: new vscode.ThemeColor(colour) } },
      },
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#type.dispose();
  }
}
