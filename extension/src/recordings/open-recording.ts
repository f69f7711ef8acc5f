import type * as vscode from "vscode";
import { withProgress } from "../base/progress";
import { ExtensionError, failureOf, failureText, type FailureKind } from "../errors/failure";
import type { Client } from "../helper/client";
import type { Params, Recording } from "../protocol/protocol";

/** Kinds of failures that another recording would not have. */
const unusable: ReadonlySet<FailureKind> = new Set(["bad_input", "not_found", "unsupported"]);

/** Opens a recording in the helper, with progress. Throws an error of kind "bad_recording" if it cannot be used. */
export async function openRecording(client: Client, title: string, params: Params<"ptlens/open">, location?: vscode.ProgressLocation): Promise<Recording> {
  try {
    const { recording } = await withProgress(title, (onProgress, token) => client.requestWithProgress("ptlens/open", params, onProgress, token), location);
    return recording;
  } catch (error) {
    const failure = failureOf(error);
    if (!unusable.has(failure.kind)) throw error;
    throw new ExtensionError("bad_recording", failureText(failure), { cause: error });
  }
}
