// Parameters of ptlens/record: from the settings and from the chosen target.
import * as vscode from "vscode";
import { readSettings } from "../base/settings";
import type { RecordParams } from "../protocol/protocol";
import type { Target } from "../targets/target-picker";

/** Returns the parameters that the settings determine: those of the folder that contains `resource`, or the open file. */
export function settingsParams(resource?: vscode.Uri): RecordParams {
  const { duration, backend, probeBudget, perfPath, symfs, sourceMap, recordingsFolder } = readSettings(resource);
  return { duration, backend, budget: probeBudget, perf: perfPath, symfs, source_map: sourceMap, folder: recordingsFolder };
}

export function targetParams(target: Target): RecordParams {
  if (target.kind === "process") {
    const { process, thread } = target;
    if (thread === undefined) return { pid: process.pid, start_time: process.start_time };
    // The start time is the process's; only its main thread has the same.
    return thread.tid === process.pid ? { tid: thread.tid, start_time: process.start_time } : { tid: thread.tid };
  }
  const { program, args, cwd, env } = target.program;
  return {
    program,
    arguments: [...args],
    ...(Object.keys(env).length === 0 ? {} : { environment: { ...env } }),
    ...(cwd === "" ? {} : { cwd }),
  };
}

/** Returns the resource whose settings apply: the folder of the program, else the source file. */
export function settingsResource(target: Target, file: string | undefined): vscode.Uri | undefined {
  const folderName = target.kind === "program" ? target.program.folder : "";
  const folder = folderName === "" ? undefined : vscode.workspace.workspaceFolders?.find(({ name }) => name === folderName);
  return folder?.uri ?? (file === undefined ? undefined : vscode.Uri.file(file));
}
