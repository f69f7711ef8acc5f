// Requests for a function whose name several functions have: the user chooses one, and the request is repeated.
import * as vscode from "vscode";
import { errorActions } from "../errors/error-actions";
import { ExtensionError, failureOf } from "../errors/failure";
import type { FunctionSelector } from "../protocol/protocol";
import { functionItem } from "./function-picker";

/**
 * Runs `request`. If the function turns out to be ambiguous, offers its candidates and runs `request` again with the
 * chosen one. Throws a cancellation if the user chooses none.
 */
export async function withCandidates<T>(selector: FunctionSelector, request: (selector: FunctionSelector) => Promise<T>): Promise<T> {
  try {
    return await request(selector);
  } catch (error) {
    const { kind, candidates } = failureOf(error);
    if (!errorActions[kind].includes("chooseFunction") || candidates.length === 0) throw error;
    const title = vscode.l10n.t("{0} functions are named {1}", candidates.length, selector.name);
    const placeHolder = vscode.l10n.t("Choose a function");
    const picked = await vscode.window.showQuickPick(candidates.map(functionItem), { title, placeHolder, matchOnDescription: true, matchOnDetail: true });
    if (picked?.selector === undefined) throw new ExtensionError("cancelled", vscode.l10n.t("No function was chosen."), { cause: error });
    return request(picked.selector);
  }
}
