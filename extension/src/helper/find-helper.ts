// Finds the native helper: the environment's, the setting's, the packaged one, in this order; then
// runs it once with --version.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { readSettings } from "../base/settings";
import { HelperUnusable } from "../errors/failure";

const run = promisify(execFile);
const versionTimeout = 10_000;

export interface Helper {
  readonly path: string;
  readonly version: string;
}

interface Place {
  readonly path: string;
  readonly source: string;
  readonly remedy: string;
}

function place(extension: vscode.ExtensionContext): Place {
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

/** Throws HelperUnusable with what to do. */
export async function findHelper(extension: vscode.ExtensionContext): Promise<Helper> {
  const { path, source, remedy } = place(extension);
  if (process.platform !== "linux") {
    throw new HelperUnusable(vscode.l10n.t("PT Lens measures on Linux only: open the folder on a Linux machine, for example with Remote - SSH."));
  }
  try {
    const { stdout } = await run(path, ["--version"], { timeout: versionTimeout });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    if (version === undefined) throw new Error(vscode.l10n.t("its answer to --version holds no version"));
    return { path, version };
  } catch (error) {
    throw new HelperUnusable(vscode.l10n.t("The helper {0} (from {1}) cannot be used: {2}. {3}", path, source, reason(error), remedy));
  }
}

function reason(error: unknown): string {
  const { code, killed, stderr } = error as { code?: unknown; killed?: boolean; stderr?: string };
  if (code === "ENOENT") return vscode.l10n.t("there is no such file");
  if (code === "EACCES") return vscode.l10n.t("it may not be executed");
  if (killed === true) return vscode.l10n.t("no answer to --version within {0} s", versionTimeout / 1000);
  const said = stderr?.trim().split("\n")[0];
  if (said !== undefined && said !== "") return said;
  return error instanceof Error ? (error.message.split("\n")[0] ?? error.message) : String(error);
}
