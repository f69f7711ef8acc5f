// Measure the sample: the order server that comes with the extension is built with the machine's compiler,
// started and measured.
import { execFile } from "node:child_process";
import { copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import type { Log } from "../errors/log";
import { baseParams } from "./record-params";
import type { Panel } from "../panel/panel";
import { mustBeTrusted, type Recorder } from "./recorder";

const run = promisify(execFile);
const compilers = ["c++", "g++", "clang++"];
const measured = "handle_order";
/** Seconds. */
const duration = 3;

export async function measureSample(extension: vscode.ExtensionContext, recorder: Recorder, panel: Panel, log: Log): Promise<void> {
  try {
    mustBeTrusted();
    const folder = path.join(extension.globalStorageUri.fsPath, "sample");
    const source = path.join(folder, "order_server.cpp");
    const program = path.join(folder, "order_server");
    await mkdir(folder, { recursive: true });
    await copyFile(vscode.Uri.joinPath(extension.extensionUri, "extension", "sample", "order_server.cpp").fsPath, source);
    const title = vscode.l10n.t("PT Lens: building the sample");
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => build(source, program));
    const document = await vscode.workspace.openTextDocument(source);
    const row = document.getText().split("\n").findIndex((line) => line.includes(` ${measured}(`) && line.endsWith("{"));
    const selection = new vscode.Range(Math.max(row, 0), 0, Math.max(row, 0), 0);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One, selection });
    const chosen = { name: measured };
    const params = { ...baseParams(), program, arguments: ["--threads", "2", "--rate", "500"], function: chosen, duration };
    await recorder.measure(params, { functions: [chosen], target: "order_server" });
    await panel.showFunction(chosen);
  } catch (error) {
    log.report(vscode.l10n.t("measure the sample"), error);
  }
}

/** With the first compiler that can. */
async function build(source: string, program: string): Promise<void> {
  let failure: Error | undefined;
  for (const compiler of compilers) {
    try {
      await run(compiler, ["-std=c++20", "-g", "-O2", "-pthread", "-o", program, source]);
      return;
    } catch (error) {
      const { code, stderr } = error as { code?: unknown; stderr?: string };
      if (code === "ENOENT") continue;
      const why = stderr?.trim().split("\n")[0] ?? "";
      failure ??= new Error(vscode.l10n.t("{0} could not build the sample: {1}", compiler, why), { cause: error });
    }
  }
  throw failure ?? new Error(vscode.l10n.t("There is no C++ compiler here to build the sample. Install g++ or clang, or measure a program of your own."));
}
