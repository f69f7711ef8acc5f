// Measure Sample Program: builds the order server of the extension with this machine's compiler, starts and measures it.
import { execFile } from "node:child_process";
import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { ExtensionError } from "../errors/failure";
import type { Log } from "../errors/log";
import type { Panel } from "../panel/panel";
import { settingsParams } from "./record-params";
import { requireTrust, type Recorder } from "./recorder";

const run = promisify(execFile);
const compilers = ["c++", "g++", "clang++"];
const measured = "handle_order";
/** Seconds. */
const duration = 3;

export function measureSample(extension: vscode.ExtensionContext, recorder: Recorder, panel: Panel, log: Log): Promise<void> {
  return log.attempt("measure the sample", async () => {
    requireTrust();
    const folder = path.join(extension.globalStorageUri.fsPath, "sample");
    const source = path.join(folder, "order_server.cpp");
    const program = path.join(folder, "order_server");
    await mkdir(folder, { recursive: true });
    await copyFile(vscode.Uri.joinPath(extension.extensionUri, "extension", "sample", "order_server.cpp").fsPath, source);
    const title = vscode.l10n.t("PT Lens: Building the sample program");
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => build(source, program));
    const document = await vscode.workspace.openTextDocument(source);
    const line = document.getText().split("\n").findIndex((text) => text.includes(` ${measured}(`) && text.endsWith("{"));
    const selection = new vscode.Range(Math.max(line, 0), 0, Math.max(line, 0), 0);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One, selection });
    const selector = { name: measured };
    const params = { ...settingsParams(), program, arguments: ["--threads", "2", "--rate", "500"], function: selector, duration };
    await recorder.measure(params, { functions: [selector], target: "order_server" });
    await panel.showMeasured([selector]);
  });
}

/** Builds the program with the first compiler that succeeds. */
async function build(source: string, program: string): Promise<void> {
  let failure: Error | undefined;
  for (const compiler of compilers) {
    try {
      await run(compiler, ["-std=c++20", "-g", "-O2", "-pthread", "-o", program, source]);
      return;
    } catch (error) {
      const { code, stderr } = error as { code?: unknown; stderr?: string };
      if (code === "ENOENT") continue;
      const reason = stderr?.trim().split("\n")[0] ?? "";
      failure ??= new ExtensionError("not_now", vscode.l10n.t("{0} could not build the sample program: {1}", compiler, reason), { cause: error });
    }
  }
  throw failure ?? new ExtensionError("not_now", vscode.l10n.t("PT Lens found no C++ compiler. Install g++ or clang, or measure a program of your own."));
}
