// Finds the native helper: from the environment, the setting, or the extension's folder, in this order. Then runs it
// once with --version.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { readSettings } from "../base/settings";
import { ExtensionError } from "../errors/failure";

const run = promisify(execFile);
const versionTimeout = 10_000;

export interface Helper {
  readonly path: string;
  readonly version: string;
}

interface HelperLocation {
  readonly path: string;
  /** The variable, setting or folder that determines the path. */
  readonly source: string;
  readonly remedy: string;
}

function helperLocation(extension: vscode.ExtensionContext): HelperLocation {
  const environment = process.env.PTLENS_HELPER ?? "";
  if (environment !== "") {
    return { path: environment, source: "PTLENS_HELPER", remedy: vscode.l10n.t("Correct or unset PTLENS_HELPER.") };
  }
  const setting = readSettings().helperPath;
  if (setting !== "") {
    return { path: setting, source: "ptlens.helperPath", remedy: vscode.l10n.t("Correct or clear the setting ptlens.helperPath.") };
  }
  return {
    path: vscode.Uri.joinPath(extension.extensionUri, "helper", "build", "ptlens").fsPath,
    source: vscode.l10n.t("the extension's folder"),
    remedy: vscode.l10n.t("Build it with `npm run build`, or set ptlens.helperPath."),
  };
}

/** Throws an error of kind "helper_unusable" whose message contains the remedy. */
export async function findHelper(extension: vscode.ExtensionContext): Promise<Helper> {
  const { path, source, remedy } = helperLocation(extension);
  if (process.platform !== "linux") {
    throw new ExtensionError("helper_unusable", vscode.l10n.t("PT Lens measures on Linux only. Open the folder on a Linux machine, for example with Remote - SSH."));
  }
  try {
    const { stdout } = await run(path, ["--version"], { timeout: versionTimeout });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    if (version === undefined) throw new Error(vscode.l10n.t("it printed no version"));
    return { path, version };
  } catch (error) {
    const message = vscode.l10n.t("PT Lens cannot use the helper {0} (from {1}): {2}. {3}", path, source, reason(error), remedy);
    throw new ExtensionError("helper_unusable", message, { cause: error });
  }
}

function reason(error: unknown): string {
  const { code, killed, stderr } = error as { code?: unknown; killed?: boolean; stderr?: string };
  if (code === "ENOENT") return vscode.l10n.t("the file does not exist");
  if (code === "EACCES") return vscode.l10n.t("it is not executable");
  if (killed === true) return vscode.l10n.t("it did not answer --version within {0} s", versionTimeout / 1000);
  const firstLine = stderr?.trim().split("\n")[0];
  if (firstLine !== undefined && firstLine !== "") return firstLine;
  return error instanceof Error ? (error.message.split("\n")[0] ?? error.message) : String(error);
}
