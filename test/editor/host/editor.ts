// What tests in the extension host do to the editor and its helper.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import * as vscode from "vscode";
import type { Api } from "../../../extension/src/extension";
import { environment } from "./environment";

export async function activeApi(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>("ptlens.ptlens");
  assert.ok(extension !== undefined, "the extension is installed");
  return extension.activate();
}

export async function lenses(uri: vscode.Uri): Promise<vscode.CodeLens[]> {
  const all = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", uri);
  return all.filter((lens) => lens.command?.command === "ptlens.showFunction");
}

/** Runs `work` and answers the error messages that it showed. */
export async function shownErrors(work: () => Thenable<unknown>): Promise<string[]> {
  const shown: string[] = [];
  const original = vscode.window.showErrorMessage;
  const replacement = (message: string): Thenable<undefined> => {
    shown.push(message);
    return Promise.resolve(undefined);
  };
  Object.assign(vscode.window, { showErrorMessage: replacement });
  try {
    await work();
  } finally {
    Object.assign(vscode.window, { showErrorMessage: original });
  }
  return shown;
}

export async function until(what: string, probe: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (await probe()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`${what}: still not so`);
}

/** Process ids of the helpers that this extension host started. */
export function helpersOf(): number[] {
  const helper = environment("PTLENS_HELPER");
  return readdirSync("/proc").map(Number).filter((pid) => {
    if (!Number.isInteger(pid)) return false;
    try {
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1];
      return Number(parent) === process.pid && readlinkSync(`/proc/${String(pid)}/exe`) === helper;
    } catch {
      return false; // it has ended
    }
  });
}

export function killHelpers(): void {
  for (const pid of helpersOf()) process.kill(pid, "SIGSEGV");
}
