// Parameters of ptlens/record: from the settings, and from the chosen target.
import * as vscode from "vscode";
import { readSettings } from "../base/settings";
import type { RecordParams } from "../protocol/protocol";
import type { Target } from "../targets/target-picker";

/** What the settings say of every measurement; of the folder that holds `resource`, or the file that is open. */
export function baseParams(resource?: vscode.Uri): RecordParams {
  const settings = readSettings(resource);
  return {
    duration: settings.duration,
    backend: settings.backend,
    perf: settings.perfPath,
    symfs: settings.symfs,
    sourceMap: settings.sourceMap,
    folder: settings.recordingsFolder,
  };
}

export function targetParams(target: Target): RecordParams {
  if (target.kind === "process") {
    const { process, thread } = target;
    if (thread === undefined) return { pid: process.pid, startTime: process.start_time };
    // The start time is the process's, which its other threads do not have.
    return thread.tid === process.pid ? { tid: thread.tid, startTime: process.start_time } : { tid: thread.tid };
  }
  const { program, args, cwd, env } = target.program;
  return {
    program,
    arguments: [...args],
    ...(Object.keys(env).length === 0 ? {} : { environment: { ...env } }),
    ...(cwd === "" ? {} : { cwd }),
  };
}

/** Whose settings hold: those of the program's folder, else of the source's. */
export function settingsPlace(target: Target, place: { readonly file: string } | undefined): vscode.Uri | undefined {
  const named = target.kind === "program" && target.program.folder !== "" ? target.program.folder : undefined;
  const folder = named === undefined ? undefined : vscode.workspace.workspaceFolders?.find(({ name }) => name === named);
  return folder?.uri ?? (place === undefined ? undefined : vscode.Uri.file(place.file));
}
