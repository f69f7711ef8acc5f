// Writes latency, calls and off-CPU at the end of every line with call sites that is on the screen, and the line's own
// time where it was asked for, and shows in the
// overview ruler how hot each line of the file is. Where the lines are now, and whether they are still what was
// measured, the helper says, which follows the edits; between two answers VS Code moves what is drawn. An answer is
// of the lines on the screen and some around them: scrolling within it asks nothing. Details are the helper's hover.
import * as vscode from "vscode";
import { annotationSettings, onDidChangeAnnotationSettings } from "./annotation-settings";
import { heatStep, heatSteps, isStale, placedTexts, widthOfText } from "./annotation-text";
import { BinaryWatch } from "./binary-watch";
import type { Client } from "./client";
import { failureOf } from "./error-text";
import { HeatTypes } from "./heat-types";
import { isMeasurable } from "./languages";
import type { Log } from "./log";
import type { AnnotationsResult } from "./protocol";
import type { Session } from "./session";

/** Lines above and below those on the screen that are asked for as well. */
const margin = 100;
/** After an edit, so long nothing must be typed before lines are asked for anew, ms. */
const editRests = 300;
/** Scrolling draws at most so often, ms. */
const scrollRests = 60;

interface Drawn {
  readonly first: number;
  readonly last: number;
  readonly result: AnnotationsResult;
}

/** What is drawn in one editor: options for each decoration type, by heat. */
export interface Drawing {
  readonly texts: readonly vscode.DecorationOptions[][];
  readonly marks: readonly vscode.Range[][];
}

export class LineDecorations implements vscode.Disposable {
  readonly #watch = new BinaryWatch();
  readonly #drawn = new Map<vscode.TextEditor, Drawn>();
  readonly #heat = new Map<string, AnnotationsResult["heat"]>();
  readonly #timers = new Map<vscode.TextEditor, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable[];
  #types: HeatTypes;
  #requests = 0;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly log: Log,
  ) {
    this.#types = new HeatTypes(annotationSettings().heat);
    const redraw = (): void => {
      this.refresh();
    };
    this.#subscriptions = [
      session.onDidChange(() => {
        this.#watch.reset();
        redraw();
      }),
      this.#watch.onDidBuild(() => {
        redraw();
        void client.refreshLenses();
      }),
      onDidChangeAnnotationSettings(() => {
        const { heat } = annotationSettings();
        if (heat !== this.#types.place) {
          this.#types.dispose();
          this.#types = new HeatTypes(heat);
        }
        redraw();
        void client.refreshLenses();
      }),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of this.#drawn.keys()) if (!editors.includes(editor)) this.#drawn.delete(editor);
        this.#drawAll();
      }),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => {
        if (!this.#holdsScreen(textEditor)) this.#soon(textEditor, scrollRests);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0) return;
        this.#heat.delete(document.uri.fsPath);
        for (const editor of vscode.window.visibleTextEditors) {
          if (editor.document !== document || !this.#drawn.delete(editor)) continue;
          this.#soon(editor, editRests);
        }
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) redraw();
      }),
    ];
  }

  /** How many times lines were asked for; for tests of the real editor. */
  get requests(): number {
    return this.#requests;
  }

  /** What is drawn for some lines, 1-based; all of them where none are given. For tests of the real editor. */
  async drawing(document: vscode.TextDocument, first = 1, last = document.lineCount): Promise<Drawing> {
    const result = await this.#ask(document, first, last);
    return this.#draw(document, result, first, last, 4);
  }

  /** The text options of all lines, in the order of lines; for tests of the real editor. */
  async options(document: vscode.TextDocument): Promise<vscode.DecorationOptions[]> {
    const { texts } = await this.drawing(document);
    return texts.flat().sort((a, b) => a.range.start.line - b.range.start.line);
  }

  /** Asks for the lines anew: the helper has more to say of them. */
  refresh(): void {
    this.#forget();
    this.#drawAll();
  }

  #forget(): void {
    this.#drawn.clear();
    this.#heat.clear();
  }

  #soon(editor: vscode.TextEditor, delay: number): void {
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
      this.log.report(vscode.l10n.t("annotate the lines"), error);
    });
  }

  #holdsScreen(editor: vscode.TextEditor): boolean {
    const drawn = this.#drawn.get(editor);
    return (
      drawn !== undefined &&
      editor.visibleRanges.every(({ start, end }) => start.line + 1 >= drawn.first && end.line + 1 <= drawn.last)
    );
  }

  async #updateNow(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    if (document.uri.scheme !== "file" || !isMeasurable(document.languageId)) return;
    if (this.#holdsScreen(editor)) return;
    const lines = editor.visibleRanges.flatMap(({ start, end }) => [start.line + 1, end.line + 1]);
    const first = Math.max(1, Math.min(...lines, document.lineCount) - margin);
    const last = Math.min(document.lineCount, Math.max(...lines, 1) + margin);
    const version = document.version;
    const recording = this.session.recording?.id;
    const result = await this.#ask(document, first, last);
    if (document.version !== version || this.session.recording?.id !== recording) return; // asked again by what changed it
    if (result !== undefined) {
      this.#drawn.set(editor, { first, last, result });
      this.#watch.watch(result.binaries);
    }
    const tabSize = typeof editor.options.tabSize === "number" ? editor.options.tabSize : 4;
    const { texts, marks } = this.#draw(document, result, first, last, tabSize);
    const { texts: textTypes, marks: markTypes } = this.#types;
    for (const [step, type] of textTypes.entries()) editor.setDecorations(type, texts[step] ?? []);
    for (const [step, type] of markTypes.entries()) editor.setDecorations(type, marks[step] ?? []);
  }

  /** The annotations of some lines, with the heat of all where it is not known; nothing where none are to be drawn. */
  async #ask(document: vscode.TextDocument, first: number, last: number): Promise<AnnotationsResult | undefined> {
    const settings = annotationSettings(document.uri);
    if (this.session.recording === undefined || document.uri.scheme !== "file" || !isMeasurable(document.languageId)) return undefined;
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

  #draw(
    document: vscode.TextDocument,
    result: AnnotationsResult | undefined,
    first: number,
    last: number,
    tabSize: number,
  ): Drawing {
    const texts = Array.from({ length: heatSteps }, (): vscode.DecorationOptions[] => []);
    const marks = Array.from({ length: heatSteps }, (): vscode.Range[] => []);
    if (result === undefined) return { texts, marks };
    const shown = (line: number): boolean => line >= 1 && line <= document.lineCount;
    const widthOf = (line: number): number => (shown(line) ? widthOfText(document.lineAt(line - 1).text, tabSize) : 0);
    const drawn = new Set<number>();
    for (const { row, text } of placedTexts(result, widthOf)) {
      if (!shown(row.line) || drawn.has(row.line)) continue;
      drawn.add(row.line);
      const step = heatStep(row.total, result.hottest);
      const hot = step === heatSteps - 1 ? "ptlens.hotLineForeground" : "ptlens.lineForeground";
      const colour = isStale(row) ? "ptlens.staleLineForeground" : hot;
      texts[step]?.push({
        range: document.lineAt(row.line - 1).range,
        renderOptions: { after: { contentText: text, color: new vscode.ThemeColor(colour) } },
      });
    }
    const { line: lines = [], total = [] } = result.heat ?? {};
    for (const [index, line] of lines.entries()) {
      if (!shown(line) || drawn.has(line) || (line >= first && line <= last)) continue;
      marks[heatStep(total[index] ?? 0, result.hottest)]?.push(new vscode.Range(line - 1, 0, line - 1, 0));
    }
    return { texts, marks };
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#watch.dispose();
    this.#types.dispose();
  }
}
