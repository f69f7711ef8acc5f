// Finds the function at a source location in the binaries of the target. If there are several, the user chooses one.
// Instances of a template can be measured together. For a function that was inlined everywhere, its callers are offered.
import path from "node:path";
import * as vscode from "vscode";
import { formatCount } from "../base/units";
import { ExtensionError } from "../errors/failure";
import type { Client } from "../helper/client";
import type { FoundFunction, FunctionSelector, InlinedAt } from "../protocol/protocol";
import type { SourceLocation } from "../source/cursor-location";
import { selectorOf, type FunctionRef } from "./function-selector";

/** A process, or the file of a program. */
export type Where = { readonly pid: number } | { readonly program: string };

interface FunctionItem extends vscode.QuickPickItem {
  readonly selector?: FunctionSelector;
}

/** Returns undefined if the user cancels. Throws the helper's explanation if there is no such function. */
export async function functionAt(client: Client, location: SourceLocation, where: Where): Promise<FunctionSelector | undefined> {
  const { file, line, name, symbol, symbolLine } = location;
  const { candidates, message, inlined } = await client.request("ptlens/functionAt", {
    file,
    line,
    ...(name === "" ? {} : { name }),
    ...(symbol === "" ? {} : { symbol }),
    ...(symbolLine === 0 ? {} : { symbol_line: symbolLine }),
    ...where,
  });
  if (inlined !== null) {
    return pick(inlinedItems(inlined, candidates), vscode.l10n.t("{0} was inlined everywhere ({1})", inlined.name, placesText(inlined)));
  }
  const [first] = candidates;
  if (first === undefined) throw new ExtensionError("not_found", message);
  if (candidates.length === 1) return selectorOf(first);
  return pick(candidateItems(candidates), vscode.l10n.t("Function to measure"));
}

function placesText({ places }: InlinedAt): string {
  return places === 1 ? vscode.l10n.t("1 place") : vscode.l10n.t("{0} places", formatCount(places));
}

/** Exported for tests. */
export function candidateItems(candidates: readonly FoundFunction[]): FunctionItem[] {
  const items = candidates.map(functionItem);
  const spelling = candidates[0]?.spelling ?? "";
  if (candidates.length < 2 || !candidates.every((candidate) => candidate.spelling === spelling)) return items;
  const binaries = new Set(candidates.map(({ binary }) => binary));
  const [only] = binaries;
  const together: FunctionItem = {
    label: `$(layers) ${vscode.l10n.t("All {0} together", formatCount(candidates.length))}`,
    description: spelling,
    detail: vscode.l10n.t("Template instances, overloads or functions of the same name: one report with a row for each"),
    selector: { name: spelling, all: true, ...(binaries.size === 1 && only !== undefined ? { binary: only } : {}) },
  };
  return [together, ...items];
}

/** Exported for tests. */
export function inlinedItems(inlined: InlinedAt, candidates: readonly FoundFunction[]): FunctionItem[] {
  const holders = inlined.holders.length > 0 ? inlined.holders : candidates;
  return [
    { label: vscode.l10n.t("measure a function that contains its code"), kind: vscode.QuickPickItemKind.Separator },
    ...holders.map(functionItem),
    { label: vscode.l10n.t("with Intel PT"), kind: vscode.QuickPickItemKind.Separator },
    {
      label: `$(list-ordered) ${vscode.l10n.t("Count its executions at {0}", placesText(inlined))}`,
      description: inlined.name,
      detail: vscode.l10n.t("The trace contains them. Probes need a function with an entry."),
      selector: { name: inlined.name },
    },
  ];
}

async function pick(items: readonly FunctionItem[], placeHolder: string): Promise<FunctionSelector | undefined> {
  const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Measure latency"), placeHolder, matchOnDescription: true, matchOnDetail: true });
  return picked?.selector;
}

/** Returns a row with the function's name, declaration, address and binary. */
export function functionItem(found: FunctionRef & Partial<Pick<FoundFunction, "file" | "line">>): FunctionItem {
  const { name, binary, address, file = "", line = 0 } = found;
  const declaration = file === "" ? "" : `${path.basename(file)}:${String(line)}`;
  return {
    label: name,
    description: [declaration, address ?? ""].filter((text) => text !== "").join(" · "),
    detail: binary,
    selector: selectorOf(found),
  };
}
