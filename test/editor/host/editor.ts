// Actions of the tests in the extension host on the editor and its helper.
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

/** Runs `work` while a function of the editor, such as vscode.window.showErrorMessage, is replaced. */
export async function whileReplaced<Of extends object, Name extends keyof Of>(of: Of, name: Name, replacement: Of[Name], work: () => Thenable<unknown>): Promise<void> {
  const original = of[name];
  Object.assign(of, { [name]: replacement });
  try {
    await work();
  } finally {
    Object.assign(of, { [name]: original });
  }
}

async function shown(how: "showErrorMessage" | "showInformationMessage", work: () => Thenable<unknown>): Promise<string[]> {
  const messages: string[] = [];
  const replacement = (message: string): Thenable<undefined> => {
    messages.push(message);
    return Promise.resolve(undefined);
  };
  await whileReplaced(vscode.window, how, replacement, work);
  return messages;
}

/** Runs `work` and returns the error messages that it showed. */
export const shownErrors = (work: () => Thenable<unknown>): Promise<string[]> => shown("showErrorMessage", work);

/** Runs `work` and returns the information messages that it showed. */
export const shownMessages = (work: () => Thenable<unknown>): Promise<string[]> => shown("showInformationMessage", work);

export async function until(what: string, probe: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (await probe()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`${what}: timed out`);
}

/** Waits until a value has not changed for a second, and returns it. */
export async function untilSame<Value>(probe: () => Value): Promise<Value> {
  let last = probe();
  let same = 0;
  await until("a value that stays the same", () => {
    const value = probe();
    same = value === last ? same + 1 : 0;
    last = value;
    return same >= 10;
  });
  return last;
}

/** Returns the process ids of the helpers that this extension host started. */
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
