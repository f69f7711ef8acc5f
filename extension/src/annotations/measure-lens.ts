// Code lenses that measure: above functions without figures, if the user turned them on. They need an outline from the
// language's own extension.
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import type { Session } from "../recordings/session";
import { languages } from "../source/languages";
import { outlineFunctions } from "../source/outline";
import { annotationSettings, onDidChangeAnnotationSettings } from "./annotation-settings";

export class MeasureLens implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
  ) {
    const refresh = (): void => {
      this.#changed.fire();
    };
    this.#subscriptions = [
      vscode.languages.registerCodeLensProvider(languages.map((language) => ({ scheme: "file", language })), this),
      onDidChangeAnnotationSettings(refresh),
      session.onDidChange(refresh),
    ];
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const { lens, measureLens } = annotationSettings(document.uri);
    if (!lens || !measureLens || !vscode.workspace.isTrusted) return [];
    const functions = await outlineFunctions(document);
    const measured = new Set(this.session.recording === undefined ? [] : await this.client.lensLines(document));
    return functions.flatMap(({ name, nameRange: { start: { line } } }) => {
      if (measured.has(line)) return [];
      const argument = { name, binary: "", file: document.uri.fsPath, line: line + 1 };
      const command = { title: `$(pulse) ${vscode.l10n.t("Measure")}`, command: "ptlens.measureFunction", arguments: [argument] };
      return [new vscode.CodeLens(new vscode.Range(line, 0, line, 0), command)];
    });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}
