// The API for other extensions, described in docs/extension-api.md. `version` increases if something is renamed, removed
// or changes its meaning. `session` and `decorations` are for the tests.
import path from "node:path";
import * as vscode from "vscode";
import type { LineDecorations } from "../annotations/line-decorations";
import type { Client } from "../helper/client";
import { settingsParams } from "../measure/record-params";
import type { Recorder } from "../measure/recorder";
import { runningProcess } from "../measure/running-process";
import type { Panel } from "../panel/panel";
import type { Backend, FunctionSelector, Params, RecordParams, Report } from "../protocol/protocol";
import type { OpenCommand } from "../recordings/open-command";
import type { Session } from "../recordings/session";

/** The measurement to make: either `pid` or `program` is given. The settings determine all absent fields. */
export interface MeasureRequest {
  readonly pid?: number;
  readonly program?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Required without Intel PT. */
  readonly function?: string;
  /** Binary that contains the function, if several may. */
  readonly binary?: string;
  /** Seconds; 0: until the program ends or the user stops. */
  readonly duration?: number;
  readonly backend?: Backend;
  /** A file or folder whose settings apply. Absent: `cwd`, `program`, or the open file. */
  readonly settingsOf?: string;
  /** Folder to create for the recording. */
  readonly output?: string;
  /** Receives the stage, the data rate and the remaining time. */
  readonly onProgress?: (text: string) => void;
}

/** A recording on the list of this window. */
export interface RecordingHandle {
  readonly key: string;
  readonly path: string;
}

export interface Api {
  readonly version: 1;
  /** Measures, shows the result and returns the recording. Rejects if it fails, is cancelled or is not possible now. */
  measure(request: MeasureRequest, token?: vscode.CancellationToken): Promise<RecordingHandle>;
  /** Opens a perf.data file, a folder of `ptlens record` or a bundle, and shows it. */
  openRecording(path: string, options?: Omit<Params<"ptlens/open">, "path" | "activate" | "workDoneToken">): Promise<RecordingHandle>;
  /** Returns the output of `ptlens report --json` for one function. */
  report(recording: RecordingHandle, functionName: string, binary?: string): Promise<Report>;
  /** Fires when another recording, or none, is shown. */
  readonly onDidChangeActiveRecording: vscode.Event<RecordingHandle | undefined>;
  readonly session: Session;
  readonly decorations: LineDecorations;
}

export interface ApiParts {
  readonly client: Client;
  readonly session: Session;
  readonly recorder: Recorder;
  readonly panel: Panel;
  readonly open: OpenCommand;
  readonly decorations: LineDecorations;
}

export function makeApi({ client, session, recorder, panel, open, decorations }: ApiParts): Api {
  const changed = new vscode.EventEmitter<RecordingHandle | undefined>();
  session.onDidChange(() => {
    changed.fire(session.active);
  });
  return {
    version: 1,
    session,
    decorations,
    onDidChangeActiveRecording: changed.event,
    measure: async (request, token) => {
      const functions = request.function === undefined ? [] : [selector(request.function, request.binary)];
      const { onProgress } = request;
      const options = {
        ...(token === undefined ? {} : { token }),
        ...(onProgress === undefined ? {} : { onProgress: ({ message }: { message?: string }) => { onProgress(message ?? ""); } }),
      };
      const process = request.pid === undefined ? undefined : await runningProcess(client, request.pid);
      const subject = { functions, target: process?.name ?? path.basename(request.program ?? "") };
      const params = { ...recordParams(request, functions[0]), ...(process === undefined ? {} : { start_time: process.start_time }) };
      const recording = await recorder.measure(params, subject, options);
      await panel.showMeasured(functions);
      return recording;
    },
    openRecording: (recordingPath, options = {}) => open.open({ ...options, path: recordingPath }),
    report: async (recording, name, binary) => {
      const { id } = await session.opened(recording.key);
      return client.request("ptlens/report", { id, function: selector(name, binary) });
    },
  };
}

function selector(name: string, binary: string | undefined): FunctionSelector {
  return { name, ...(binary === undefined ? {} : { binary }) };
}

function recordParams(request: MeasureRequest, chosen: FunctionSelector | undefined): RecordParams {
  const { pid, program, args, cwd, environment, duration, backend, output } = request;
  const resource = request.settingsOf ?? (program === undefined ? undefined : (cwd ?? program));
  return {
    ...settingsParams(resource === undefined ? undefined : vscode.Uri.file(resource)),
    ...(pid === undefined ? {} : { pid }),
    ...(program === undefined ? {} : { program, arguments: [...(args ?? [])] }),
    ...(cwd === undefined || program === undefined ? {} : { cwd }),
    ...(environment === undefined || program === undefined ? {} : { environment }),
    ...(chosen === undefined ? {} : { function: chosen }),
    ...(duration === undefined ? {} : { duration }),
    ...(backend === undefined ? {} : { backend }),
    ...(output === undefined ? {} : { output }),
  };
}
