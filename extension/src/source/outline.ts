// The functions in a document's outline, which the language's own extension provides.
import * as vscode from "vscode";
import { qualifiedName } from "./symbol-name";

export interface OutlineFunction {
  /** Name without its scopes, as symbol tables have it. */
  readonly name: string;
  /** Name with its scopes. */
  readonly qualifiedName: string;
  /** Range of the whole function. */
  readonly range: vscode.Range;
  /** Range of its name, or the start of the function if the outline does not contain one. */
  readonly nameRange: vscode.Range;
}

/** Symbols that count as functions, here and wherever functions are listed. */
const functionKinds: ReadonlySet<vscode.SymbolKind> = new Set([
  vscode.SymbolKind.Function,
  vscode.SymbolKind.Method,
  vscode.SymbolKind.Constructor,
  vscode.SymbolKind.Operator,
]);

type Symbols = readonly vscode.DocumentSymbol[] | readonly vscode.SymbolInformation[];

/** Returns the functions of the outline in its order; none without a language server. */
export async function outlineFunctions(document: vscode.TextDocument): Promise<OutlineFunction[]> {
  const symbols = await vscode.commands.executeCommand<Symbols | undefined>("vscode.executeDocumentSymbolProvider", document.uri);
  if (symbols === undefined) return [];
  return isTree(symbols) ? inTree(symbols, [], document.languageId) : inList(symbols, document.languageId);
}

function isTree(symbols: Symbols): symbols is readonly vscode.DocumentSymbol[] {
  return "children" in (symbols[0] ?? {});
}

function inTree(symbols: readonly vscode.DocumentSymbol[], scopes: readonly string[], language: string): OutlineFunction[] {
  return symbols.flatMap(({ name, kind, range, selectionRange, children }) => {
    const names = [...scopes, name];
    return [...(functionKinds.has(kind) ? [outlineFunction(names, range, selectionRange, language)] : []), ...inTree(children, names, language)];
  });
}

function inList(symbols: readonly vscode.SymbolInformation[], language: string): OutlineFunction[] {
  const functions = symbols.filter(({ kind }) => functionKinds.has(kind));
  return functions.map(({ name, containerName, location: { range } }) => {
    const names = containerName === "" ? [name] : [containerName, name];
    return outlineFunction(names, range, new vscode.Range(range.start, range.start), language);
  });
}

function outlineFunction(names: readonly string[], range: vscode.Range, nameRange: vscode.Range, language: string): OutlineFunction {
  return { name: qualifiedName(names.slice(-1), language), qualifiedName: qualifiedName(names, language), range, nameRange };
}
