// Where the cursor is: the file and line, the identifier there, and the function around it as the
// language server sees it. A language server that is slow or absent costs nothing but that.
import * as vscode from "vscode";
import { isFollowedByCall, qualifiedName } from "./symbol-name";

export interface Place {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** Of the function that is called or declared at the cursor, empty: the cursor is on nothing of the kind. */
  readonly name: string;
  /** The function around the cursor with its scopes, empty where no language server tells. */
  readonly symbol: string;
  /** 1-based line of that function's name, 0 where it is not known. */
  readonly symbolLine: number;
}

export function placeOf(file: string, line: number, name: string): Place {
  return { file, line, name, symbol: "", symbolLine: 0 };
}

/** How long a language server may take, ms. */
const patience = 1500;

const functionKinds: ReadonlySet<vscode.SymbolKind> = new Set([
  vscode.SymbolKind.Function,
  vscode.SymbolKind.Method,
  vscode.SymbolKind.Constructor,
  vscode.SymbolKind.Operator,
]);

export async function placeAtCursor(): Promise<Place | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") return undefined;
  const { document } = editor;
  const position = editor.selection.active;
  const around = await functionAround(document, position);
  const word = document.getWordRangeAtPosition(position, /[A-Za-z_]\w*/);
  const isName =
    word !== undefined &&
    (around?.nameRange.contains(position) === true || isFollowedByCall(document.lineAt(word.end.line).text, word.end.character));
  return {
    file: document.uri.fsPath,
    line: position.line + 1,
    name: isName ? document.getText(word) : "",
    symbol: around?.name ?? "",
    symbolLine: around === undefined ? 0 : around.nameRange.start.line + 1,
  };
}

interface Around {
  readonly name: string;
  readonly nameRange: vscode.Range;
}

async function functionAround(document: vscode.TextDocument, position: vscode.Position): Promise<Around | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, patience);
  });
  const asked = Promise.resolve(
    vscode.commands.executeCommand<(vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined>(
      "vscode.executeDocumentSymbolProvider",
      document.uri,
    ),
  ).catch(() => undefined);
  const symbols = await Promise.race([asked, late]);
  clearTimeout(timer);
  if (symbols === undefined) return undefined;
  return "children" in (symbols[0] ?? {})
    ? inTree(symbols as vscode.DocumentSymbol[], position, [], document.languageId)
    : inList(symbols as vscode.SymbolInformation[], position, document.languageId);
}

function inTree(symbols: readonly vscode.DocumentSymbol[], position: vscode.Position, chain: readonly string[], language: string): Around | undefined {
  for (const symbol of symbols) {
    if (!symbol.range.contains(position)) continue;
    const names = [...chain, symbol.name];
    const inner = inTree(symbol.children, position, names, language);
    if (inner !== undefined) return inner;
    if (functionKinds.has(symbol.kind)) return { name: qualifiedName(names, language), nameRange: symbol.selectionRange };
  }
  return undefined;
}

function inList(symbols: readonly vscode.SymbolInformation[], position: vscode.Position, language: string): Around | undefined {
  const holding = symbols.filter(({ kind, location }) => functionKinds.has(kind) && location.range.contains(position));
  const innermost = holding.sort((one, other) => (one.location.range.contains(other.location.range) ? 1 : -1))[0];
  if (innermost === undefined) return undefined;
  const chain = innermost.containerName === "" ? [innermost.name] : [innermost.containerName, innermost.name];
  const { start } = innermost.location.range;
  return { name: qualifiedName(chain, language), nameRange: new vscode.Range(start, start) };
}
