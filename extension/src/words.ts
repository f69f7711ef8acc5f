// Texts in the editor's language where `vscode` is not at hand: in the webview and in what is pure. The
// translations are those of `vscode.l10n`, by the English text.

export type Translations = Readonly<Record<string, string>>;

let translations: ReadonlyMap<string, string> = new Map();

/** Undefined: all in English. */
export function speak(bundle: Translations | undefined): void {
  translations = new Map(Object.entries(bundle ?? {}));
}

/** The text with {0}, {1}, … replaced; as `vscode.l10n.t`. */
export function t(text: string, ...values: (string | number)[]): string {
  return (translations.get(text) ?? text).replace(/\{(\d+)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}
