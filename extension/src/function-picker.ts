// Which function is meant at a place in the source: the helper says what there is in the target's
// binaries, and where that is more than one, the user chooses. Instances of a template can be measured
// together, and of a function that was inlined everywhere its callers are offered.
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Place } from "./place";
import type { FoundFunction, FunctionSelector, InlinedAt } from "./protocol";
import { formatCount } from "./units";

/** Where to look: a process, or the file of a program. */
export type Where = { readonly pid: number } | { readonly program: string };

interface Item extends vscode.QuickPickItem {
  readonly selector?: FunctionSelector;
}

/** Undefined: the user gave up. Throws with the helper's words where there is no such function. */
export async function functionAt(client: Client, place: Place, where: Where): Promise<FunctionSelector | undefined> {
  const { candidates, message, inlined } = await client.request("ptlens/functionAt", {
    file: place.file,
    line: place.line,
    ...(place.name === "" ? {} : { name: place.name }),
    ...(place.symbol === "" ? {} : { symbol: place.symbol }),
    ...(place.symbolLine === 0 ? {} : { symbol_line: place.symbolLine }),
    ...where,
  });
  if (inlined !== null) {
    return pick(inlinedItems(inlined, candidates), vscode.l10n.t("{0} was inlined everywhere ({1})", inlined.name, placesOf(inlined)));
  }
  const [first] = candidates;
  if (first === undefined) throw new Error(message);
  if (candidates.length === 1) return selector(first);
  return pick(candidateItems(candidates), vscode.l10n.t("Function to measure"));
}

function placesOf({ places }: InlinedAt): string {
  return places === 1 ? vscode.l10n.t("1 place") : vscode.l10n.t("{0} places", formatCount(places));
}

/** Exported for tests. */
export function candidateItems(candidates: readonly FoundFunction[]): Item[] {
  const items = candidates.map(item);
  const spelling = candidates[0]?.spelling ?? "";
  if (candidates.length < 2 || !candidates.every((candidate) => candidate.spelling === spelling)) return items;
  const binaries = new Set(candidates.map(({ binary }) => binary));
  const [only] = binaries;
  const together: Item = {
    label: `$(layers) ${vscode.l10n.t("All {0} together", formatCount(candidates.length))}`,
    description: spelling,
    detail: vscode.l10n.t("Instances of the template, overloads or functions of equal names: one report, and a row for each"),
    selector: { name: spelling, all: true, ...(binaries.size === 1 && only !== undefined ? { binary: only } : {}) },
  };
  return [together, ...items];
}

/** Exported for tests. */
export function inlinedItems(inlined: InlinedAt, candidates: readonly FoundFunction[]): Item[] {
  const holders = inlined.holders.length > 0 ? inlined.holders : candidates;
  return [
    { label: vscode.l10n.t("measure a function that holds its code"), kind: vscode.QuickPickItemKind.Separator },
    ...holders.map(item),
    { label: vscode.l10n.t("with Intel PT"), kind: vscode.QuickPickItemKind.Separator },
    {
      label: `$(list-ordered) ${vscode.l10n.t("Count its executions at {0}", placesOf(inlined))}`,
      description: inlined.name,
      detail: vscode.l10n.t("The trace holds them; probes cannot be set where a function has no entry"),
      selector: { name: inlined.name },
    },
  ];
}

async function pick(items: readonly Item[], placeHolder: string): Promise<FunctionSelector | undefined> {
  const picked = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Measure latency"), placeHolder, matchOnDescription: true, matchOnDetail: true });
  return picked?.selector;
}

function item(candidate: FoundFunction): Item {
  const place = candidate.file === "" ? "" : `${candidate.file.slice(candidate.file.lastIndexOf("/") + 1)}:${String(candidate.line)}`;
  return {
    label: candidate.name,
    description: [place, candidate.address ?? ""].filter((part) => part !== "").join(" · "),
    detail: candidate.binary,
    selector: selector(candidate),
  };
}

function selector({ name, binary, address }: FoundFunction): FunctionSelector {
  return { name, binary, ...(address === null ? {} : { address }) };
}
