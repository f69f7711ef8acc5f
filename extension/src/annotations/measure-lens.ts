// Lenses that measure: above the functions without figures, where the user asked for them. They come with the
// outline that the language's own extension gives.
import * as vscode from "vscode";
import { annotationSettings, onDidChangeAnnotationSettings } from "./annotation-settings";
import type { Client } from "../helper/client";
import { languages } from "../source/languages";
import type { Session } from "../recordings/session";

const kinds: readonly vscode.SymbolKind[] = [vscode.SymbolKind.Function, vscode.SymbolKind.Method, vscode.SymbolKind.Constructor];

export class MeasureLens implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
  ) {
    this.#subscriptions = [
      vscode.languages.registerCodeLensProvider(
        languages.map((language) => ({ scheme: "file", language })),
        this,
      ),
      onDidChangeAnnotationSettings(() => {
        this.#changed.fire();
      }),
      session.onDidChange(() => {
        this.#changed.fire();
      }),
    ];
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const { lens, measureLens } = annotationSettings(document.uri);
    if (!lens || !measureLens || !vscode.workspace.isTrusted) return [];
    const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>(
      "vscode.executeDocumentSymbolProvider",
      document.uri,
    );
    const measured = await this.#measured(document);
    return functionsAmong(symbols ?? []).flatMap(({ name, selectionRange }) => {
      const { line } = selectionRange.start;
      if (measured.has(line)) return [];
      const argument = { name: bareName(name), binary: "", file: document.uri.fsPath, line: line + 1 };
      const command = { title: `$(pulse) ${vscode.l10n.t("Measure")}`, command: "ptlens.measureFunction", arguments: [argument] };
      return [new vscode.CodeLens(new vscode.Range(line, 0, line, 0), command)];
    });
  }

  /** Lines, 0-based, that have a lens with figures. */
  async #measured(document: vscode.TextDocument): Promise<ReadonlySet<number>> {
    if (this.session.recording === undefined) return new Set();
    return new Set(await this.client.lensLines(document));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}

function functionsAmong(symbols: readonly vscode.DocumentSymbol[]): vscode.DocumentSymbol[] {
  return symbols.flatMap((symbol) => [
    ...(kinds.includes(symbol.kind) ? [symbol] : []),
    ...functionsAmong(symbol.children),
  ]);
}

/** Outlines write "f(int)" for what is called f. */
function bareName(name: string): string {
  return name.replace(/\(.*$/s, "").trim();
}
