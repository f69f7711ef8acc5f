// Shows latency, calls and share of the function at the end of each visible line with calls, the line time if it was
// requested, the share in the gutter, and the heat of all lines in the overview ruler. The helper follows the edits: it knows the current position of each
// line and whether the line was edited. Between two results, VS Code moves the decorations. A result covers the visible
// lines and some around them, so that scrolling within it sends no request. Details are in the helper's hovers.
import * as vscode from "vscode";
import { failureOf } from "../errors/failure";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { AnnotationsResult } from "../protocol/protocol";
import type { Session } from "../recordings/session";
import { isMeasurable } from "../source/languages";
import { annotationSettings, onDidChangeAnnotationSettings } from "./annotation-settings";
import { alignedTexts, gutterLevel, gutterOpacities, heatLevel, heatLevels, isStale, textSize, widthOfText } from "./annotation-text";
import { BinaryWatch } from "./binary-watch";
import { DecorationTypes } from "./decoration-types";

/** Lines above and below the visible ones that are requested as well. */
const margin = 100;
/** Pause in typing after which lines are requested again, ms. */
const editPause = 300;
/** Time between two updates while scrolling, ms. */
const scrollPause = 60;

interface Shown {
  readonly first: number;
  readonly last: number;
  readonly result: AnnotationsResult;
}

/** The decorations of one editor by level of heat. */
export interface Decorations {
  readonly texts: readonly vscode.DecorationOptions[][];
  readonly marks: readonly vscode.Range[][];
  /** By opacity, lines that run before lines that wait. */
  readonly gutters: readonly vscode.Range[][];
}

export class LineDecorations implements vscode.Disposable {
  readonly #watch = new BinaryWatch();
  readonly #shown = new Map<vscode.TextEditor, Shown>();
  readonly #heat = new Map<string, AnnotationsResult["heat"]>();
  readonly #timers = new Map<vscode.TextEditor, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable[];
  #types: DecorationTypes;
  #requests = 0;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly log: Log,
  ) {
    this.#types = new DecorationTypes(annotationSettings().heat);
    const redraw = (): void => {
      this.refresh();
    };
    this.#subscriptions = [
      session.onDidChange(() => {
        this.#watch.reset();
        redraw();
      }),
      this.#watch.onDidRebuild(() => {
        redraw();
        void client.refreshLenses();
      }),
      onDidChangeAnnotationSettings(() => {
        const { heat } = annotationSettings();
        if (heat !== this.#types.heat) {
          this.#types.dispose();
          this.#types = new DecorationTypes(heat);
        }
        redraw();
        void client.refreshLenses();
      }),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of this.#shown.keys()) if (!editors.includes(editor)) this.#shown.delete(editor);
        this.#drawAll();
      }),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => {
        if (!this.#coversScreen(textEditor)) this.#updateSoon(textEditor, scrollPause);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0) return;
        this.#heat.delete(document.uri.fsPath);
        for (const editor of vscode.window.visibleTextEditors) {
          if (editor.document !== document) continue;
          this.#shown.delete(editor);
          this.#updateSoon(editor, editPause); // the answer to a request under way is out of date
        }
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) redraw();
      }),
    ];
  }

  /** Number of requests for lines; for tests in the extension host. */
  get requests(): number {
    return this.#requests;
  }

  /** Returns the decorations of some lines (1-based), by default of all; for tests in the extension host. */
  async decorationsOf(document: vscode.TextDocument, first = 1, last = document.lineCount): Promise<Decorations> {
    const result = await this.#request(document, first, last);
    return this.#decorationsFor(document, result, first, last, 4);
  }

  /** Returns the text decorations of all lines in their order; for tests in the extension host. */
  async options(document: vscode.TextDocument): Promise<vscode.DecorationOptions[]> {
    const { texts } = await this.decorationsOf(document);
    return texts.flat().sort((a, b) => a.range.start.line - b.range.start.line);
  }

  /** Requests all visible lines again. */
  refresh(): void {
    this.#forget();
    this.#drawAll();
  }

  #forget(): void {
    this.#shown.clear();
    this.#heat.clear();
  }

  #updateSoon(editor: vscode.TextEditor, delay: number): void {
    clearTimeout(this.#timers.get(editor));
    this.#timers.set(
      editor,
      setTimeout(() => {
        this.#timers.delete(editor);
        if (vscode.window.visibleTextEditors.includes(editor)) this.#update(editor);
      }, delay),
    );
  }

  #drawAll(): void {
    for (const editor of vscode.window.visibleTextEditors) this.#update(editor);
  }

  #update(editor: vscode.TextEditor): void {
    this.#updateNow(editor).catch((error: unknown) => {
      this.log.report("annotate the lines", error);
    });
  }

  #coversScreen(editor: vscode.TextEditor): boolean {
    const shown = this.#shown.get(editor);
    return (
      shown !== undefined &&
      editor.visibleRanges.every(({ start, end }) => start.line + 1 >= shown.first && end.line + 1 <= shown.last)
    );
  }

  async #updateNow(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    if (!isMeasurable(document)) return;
    if (this.#coversScreen(editor)) return;
    const lines = editor.visibleRanges.flatMap(({ start, end }) => [start.line + 1, end.line + 1]);
    const first = Math.max(1, Math.min(...lines, document.lineCount) - margin);
    const last = Math.min(document.lineCount, Math.max(...lines, 1) + margin);
    const version = document.version;
    const recording = this.session.recording?.id;
    const result = await this.#request(document, first, last);
    if (document.version !== version || this.session.recording?.id !== recording) return; // the change has sent another request
    if (result !== undefined) {
      this.#shown.set(editor, { first, last, result });
      this.#watch.watch(result.binaries);
    }
    const tabSize = typeof editor.options.tabSize === "number" ? editor.options.tabSize : 4;
    const { texts, marks, gutters } = this.#decorationsFor(document, result, first, last, tabSize);
    const { texts: textTypes, marks: markTypes, gutters: gutterTypes } = this.#types;
    for (const [level, type] of textTypes.entries()) editor.setDecorations(type, texts[level] ?? []);
    for (const [level, type] of markTypes.entries()) editor.setDecorations(type, marks[level] ?? []);
    for (const [index, type] of gutterTypes.entries()) editor.setDecorations(type, gutters[index] ?? []);
  }

  /** Requests the annotations of some lines, and the heat of all lines if it is not known. Returns undefined if nothing is to be shown. */
  async #request(document: vscode.TextDocument, first: number, last: number): Promise<AnnotationsResult | undefined> {
    const settings = annotationSettings(document.uri);
    if (this.session.recording === undefined || !isMeasurable(document)) return undefined;
    if (!settings.line) return undefined;
    const file = document.uri.fsPath;
    const known = this.#heat.get(file);
    this.#requests += 1;
    try {
      const version = document.version;
      const result = await this.client.request("ptlens/annotations", { file, first, last, heat: known === undefined });
      const heat = result.heat ?? known;
      if (heat === undefined) return result;
      if (document.version === version) this.#heat.set(file, heat);
      return { ...result, heat };
    } catch (error) {
      if (failureOf(error).kind === "not_found") return undefined;
      throw error;
    }
  }

  #decorationsFor(
    document: vscode.TextDocument,
    result: AnnotationsResult | undefined,
    first: number,
    last: number,
    tabSize: number,
  ): Decorations {
    const texts = Array.from({ length: heatLevels }, (): vscode.DecorationOptions[] => []);
    const marks = Array.from({ length: heatLevels }, (): vscode.Range[] => []);
    const gutters = Array.from({ length: 2 * gutterOpacities.length }, (): vscode.Range[] => []);
    if (result === undefined) return { texts, marks, gutters };
    const exists = (line: number): boolean => line >= 1 && line <= document.lineCount;
    const widthOf = (line: number): number => (exists(line) ? widthOfText(document.lineAt(line - 1).text, tabSize) : 0);
    const annotated = new Set<number>();
    for (const { row, text, distance } of alignedTexts(result, widthOf)) {
      if (!exists(row.line) || annotated.has(row.line)) continue;
      annotated.add(row.line);
      const level = heatLevel(row.total, result.hottest);
      const color = isStale(row) ? "ptlens.staleLineForeground" : "ptlens.lineForeground";
      texts[level]?.push({
        range: document.lineAt(row.line - 1).range,
        renderOptions: { after: { contentText: text, color: new vscode.ThemeColor(color), margin: `0 0 0 ${String(distance / textSize)}ch` } },
      });
    }
    for (const { line, share, waiting } of result.lines) {
      const level = gutterLevel(share);
      if (level !== undefined && exists(line)) gutters[level + (waiting ? gutterOpacities.length : 0)]?.push(new vscode.Range(line - 1, 0, line - 1, 0));
    }
    const { line: lines = [], total = [] } = result.heat ?? {};
    for (const [index, line] of lines.entries()) {
      if (!exists(line) || annotated.has(line) || (line >= first && line <= last)) continue;
      marks[heatLevel(total[index] ?? 0, result.hottest)]?.push(new vscode.Range(line - 1, 0, line - 1, 0));
    }
    return { texts, marks, gutters };
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#watch.dispose();
    this.#types.dispose();
  }
}
