// The location of the cursor: the file and line, the identifier, and the function around it according to the outline.
import * as vscode from "vscode";
import { outlineFunctions, type OutlineFunction } from "./outline";
import { isFollowedByCall } from "./symbol-name";

export interface SourceLocation {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** Name of the function that is called or declared there; empty if there is none. */
  readonly name: string;
  /** Name of the enclosing function with its scopes; empty if no language server knows it. */
  readonly symbol: string;
  /** 1-based line of that function's name; 0 if it is not known. */
  readonly symbolLine: number;
}

export function sourceLocation(file: string, line: number, name: string): SourceLocation {
  return { file, line, name, symbol: "", symbolLine: 0 };
}

/** Time that a language server may take to answer, ms. */
const outlineTimeout = 1500;

/** Returns the location of the cursor in the active editor; undefined without a source file. */
export async function cursorLocation(): Promise<SourceLocation | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") return undefined;
  const { document } = editor;
  const position = editor.selection.active;
  const enclosing = innermostAt(position, await outlineInTime(document));
  const word = document.getWordRangeAtPosition(position, /[A-Za-z_]\w*/);
  const isName =
    word !== undefined &&
    (enclosing?.nameRange.contains(position) === true || isFollowedByCall(document.lineAt(word.end.line).text, word.end.character));
  return {
    file: document.uri.fsPath,
    line: position.line + 1,
    name: isName ? document.getText(word) : "",
    symbol: enclosing?.qualifiedName ?? "",
    symbolLine: enclosing === undefined ? 0 : enclosing.nameRange.start.line + 1,
  };
}

/** Returns the functions of the outline, or none if the language server fails or is slow. */
async function outlineInTime(document: vscode.TextDocument): Promise<OutlineFunction[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<OutlineFunction[]>((resolve) => {
    timer = setTimeout(() => {
      resolve([]);
    }, outlineTimeout);
  });
  const functions = await Promise.race([outlineFunctions(document).catch(() => []), timeout]);
  clearTimeout(timer);
  return functions;
}

function innermostAt(position: vscode.Position, functions: readonly OutlineFunction[]): OutlineFunction | undefined {
  const enclosing = functions.filter(({ range }) => range.contains(position));
  return enclosing.reduce<OutlineFunction | undefined>(
    (innermost, candidate) => (innermost === undefined || innermost.range.contains(candidate.range) ? candidate : innermost),
    undefined,
  );
}
