// What activate returns: for other extensions, and `session` and `decorations` for our own tests. docs/extension-api.md
// describes it; `version` rises when something there is renamed, removed or changes its meaning.
import path from "node:path";
import * as vscode from "vscode";
import type { Client } from "./client";
import type { LineDecorations } from "./line-decorations";
import { baseParams } from "./measure-command";
import type { OpenCommand } from "./open-command";
import type { Panel } from "./panel";
import type { Backend, FunctionSelector, Params, Process, Recording, RecordParams, Report } from "./protocol";
import type { Recorder } from "./recorder";
import type { Session } from "./session";

/** What to measure: one of `pid` and `program`. Absent fields are those of the settings. */
export interface MeasureRequest {
  readonly pid?: number;
  readonly program?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Needed where there is no Intel PT. */
  readonly function?: string;
  /** That holds the function, where several may. */
  readonly binary?: string;
  /** Seconds; 0: until the program ends or the user stops. */
  readonly duration?: number;
  readonly backend?: Backend;
  /** A file or folder whose workspace folder's settings hold; absent: `cwd`, `program`, or the file that is open. */
  readonly settingsOf?: string;
  /** Folder to make for the recording. */
  readonly output?: string;
  /** Told the stage, the rate and the time left. */
  readonly onProgress?: (text: string) => void;
}

/** A recording on the list of this window. */
export interface RecordingHandle {
  readonly key: string;
  readonly path: string;
}

export interface Api {
  readonly version: 1;
  /** Measures, shows the result, and answers it. Rejects when it failed, was cancelled, or may not be done now. */
  measure(request: MeasureRequest, token?: vscode.CancellationToken): Promise<RecordingHandle>;
  /** Opens a perf.data, a folder of `ptlens record` or a bundle, and shows it. */
  openRecording(path: string, options?: Omit<Params<"ptlens/open">, "path" | "activate" | "workDoneToken">): Promise<RecordingHandle>;
  /** What `ptlens report --json` prints of one function. */
  report(recording: RecordingHandle, functionName: string, binary?: string): Promise<Report>;
  /** Another recording is shown, or none. */
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
      const chosen = selector(request);
      const { onProgress } = request;
      const options = {
        ...(token === undefined ? {} : { token }),
        ...(onProgress === undefined ? {} : { onStep: ({ message }: { message?: string }) => { onProgress(message ?? ""); } }),
      };
      const process = request.pid === undefined ? undefined : await processOf(client, request.pid);
      const subject = { functions: chosen === undefined ? [] : [chosen], target: process?.name ?? path.basename(request.program ?? "") };
      const params = { ...recordParams(request, chosen), ...(process === undefined ? {} : { start_time: process.start_time }) };
      const measured = await recorder.measure(params, subject, options);
      if (chosen === undefined) await panel.showOverview();
      else await panel.showFunction(chosen);
      return measured;
    },
    openRecording: (where, options = {}) => open.open({ ...options, path: where }),
    report: async (recording, name, binary) => {
      const { id }: Recording = await session.opened(recording.key);
      return client.request("ptlens/report", { id, function: { name, ...(binary === undefined ? {} : { binary }) } });
    },
  };
}

function selector({ function: name, binary }: MeasureRequest): FunctionSelector | undefined {
  return name === undefined ? undefined : { name, ...(binary === undefined ? {} : { binary }) };
}

async function processOf(client: Client, pid: number): Promise<Process> {
  const { processes } = await client.request("ptlens/processes", {});
  const found = processes.find((process) => process.pid === pid);
  if (found === undefined) {
    throw new Error(vscode.l10n.t("There is no process {0}. It may have ended: choose one that runs.", String(pid)));
  }
  return found;
}

function recordParams(request: MeasureRequest, chosen: FunctionSelector | undefined): RecordParams {
  const { pid, program, args, cwd, environment, duration, backend, output } = request;
  const place = request.settingsOf ?? (program === undefined ? undefined : (cwd ?? program));
  return {
    ...baseParams(place === undefined ? undefined : vscode.Uri.file(place)),
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
