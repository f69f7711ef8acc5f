// Finds the native helper: the environment's, the setting's, the packaged one, in this order; then
// runs it once with --version.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { readSettings } from "./settings";

const run = promisify(execFile);
const versionTimeout = 10_000;

export interface Helper {
  readonly path: string;
  readonly version: string;
}

export class HelperUnusable extends Error {}

interface Place {
  readonly path: string;
  readonly source: string;
  readonly remedy: string;
}

function place(extension: vscode.ExtensionContext): Place {
  const environment = process.env.PTLENS_HELPER ?? "";
  if (environment !== "") {
    return { path: environment, source: "PTLENS_HELPER", remedy: "Correct or unset PTLENS_HELPER." };
  }
  const setting = readSettings().helperPath;
  if (setting !== "") {
    return { path: setting, source: "ptlens.helperPath", remedy: "Correct or clear the setting ptlens.helperPath." };
  }
  return {
    path: vscode.Uri.joinPath(extension.extensionUri, "helper", "build", "ptlens").fsPath,
    source: "the extension's folder",
    remedy: "Build it with `npm run build`, or set ptlens.helperPath.",
  };
}

/** Throws HelperUnusable with what to do. */
export async function findHelper(extension: vscode.ExtensionContext): Promise<Helper> {
  const { path, source, remedy } = place(extension);
  if (process.platform !== "linux") {
    throw new HelperUnusable("PT Lens measures on Linux only: open the folder on a Linux machine, for example with Remote - SSH.");
  }
  try {
    const { stdout } = await run(path, ["--version"], { timeout: versionTimeout });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
    if (version === undefined) throw new Error("its answer to --version holds no version");
    return { path, version };
  } catch (error) {
    throw new HelperUnusable(`The helper ${path} (from ${source}) cannot be used: ${reason(error)}. ${remedy}`);
  }
}

function reason(error: unknown): string {
  const { code, killed, stderr } = error as { code?: unknown; killed?: boolean; stderr?: string };
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "it may not be executed";
  if (killed === true) return `no answer to --version within ${String(versionTimeout / 1000)} s`;
  const said = stderr?.trim().split("\n")[0];
  if (said !== undefined && said !== "") return said;
  return error instanceof Error ? (error.message.split("\n")[0] ?? error.message) : String(error);
}
