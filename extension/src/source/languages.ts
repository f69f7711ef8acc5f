import type * as vscode from "vscode";

/** VS Code's ids of the languages whose sources PT Lens annotates. */
export const languages: readonly string[] = ["c", "cpp", "rust", "go", "d"];

/** Whether the document is a file in one of these languages. */
export function isMeasurable({ uri, languageId }: vscode.TextDocument): boolean {
  return uri.scheme === "file" && languages.includes(languageId);
}
