// Figures belong to the source that the program was built from. Says so when the file has changed since.
import { stat } from "node:fs/promises";
import path from "node:path";
import * as vscode from "vscode";
import type { LinesResult } from "./protocol";

/** A second, for file systems that keep no finer times. */
const tolerance = 1000;

async function modified(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs;
  } catch {
    return undefined;
  }
}

/** Warns when `file` is newer than a binary of `result`; one that is not on this machine tells nothing. */
export async function warnIfNewer(file: string, result: LinesResult): Promise<void> {
  const changed = await modified(file);
  if (changed === undefined) return;
  for (const binary of new Set(result.functions.map((entry) => entry.binary))) {
    const built = await modified(binary);
    if (built === undefined || changed <= built + tolerance) continue;
    void vscode.window.showWarningMessage(
      `PT Lens: ${path.basename(file)} was changed after ${path.basename(binary)} was built: figures may be at ` +
        "wrong lines. Build the program and measure again.",
    );
    return;
  }
}
