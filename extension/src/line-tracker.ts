// Follows edits of the open documents since the results were shown, so that figures stay at the lines
// that they were measured for, and carries the helper's lenses and hovers along.
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { LineMap } from "./line-map";

export class LineTracker implements vscode.Disposable {
  readonly #maps = new Map<string, LineMap>();
  readonly #listener = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    if (document.uri.scheme === "file" && contentChanges.length > 0) this.#apply(document.uri, contentChanges);
  });

  /** What is on the screen now is what was measured. */
  reset(): void {
    this.#maps.clear();
  }

  /** Where a measured line is now, 0-based; nothing when it was removed. */
  present(uri: vscode.Uri, line: number): number | undefined {
    const map = this.#maps.get(uri.toString());
    return map === undefined ? line : map.present(line);
  }

  /** Which measured line is there now, 0-based; nothing when it is new. */
  measured(uri: vscode.Uri, line: number): number | undefined {
    const map = this.#maps.get(uri.toString());
    return map === undefined ? line : map.measured(line);
  }

  get middleware(): Middleware {
    return {
      provideCodeLenses: async (document, token, next) => {
        const lenses = (await next(document, token)) ?? [];
        return lenses.flatMap((lens) => {
          const line = this.present(document.uri, lens.range.start.line);
          if (line === undefined || line >= document.lineCount) return [];
          return [new vscode.CodeLens(new vscode.Range(line, 0, line, 0), lens.command)];
        });
      },
      provideHover: async (document, position, token, next) => {
        const line = this.measured(document.uri, position.line);
        if (line === undefined) return undefined;
        const hover = await next(document, new vscode.Position(line, position.character), token);
        return hover ? new vscode.Hover(hover.contents) : undefined;
      },
    };
  }

  #apply(uri: vscode.Uri, changes: readonly vscode.TextDocumentContentChangeEvent[]): void {
    const key = uri.toString();
    const map = this.#maps.get(key) ?? new LineMap();
    // VS Code orders the changes of one event from the end of the document to its beginning.
    for (const { range, text } of changes) {
      map.apply({
        startLine: range.start.line,
        startCharacter: range.start.character,
        endLine: range.end.line,
        endCharacter: range.end.character,
        newBreaks: text.split("\n").length - 1,
        endsInBreak: text.endsWith("\n"),
      });
    }
    if (!map.unchanged) this.#maps.set(key, map);
  }

  dispose(): void {
    this.#listener.dispose();
  }
}
