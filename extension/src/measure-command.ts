// Measure latency: the function at the cursor, of a process that the user picks or of the configured
// program.
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import { withSteps } from "./long-work";
import type { Panel } from "./panel";
import { pickTarget, type Target } from "./process-picker";
import type { FunctionIdentity, FunctionSelector, RecordParams, Recording } from "./protocol";
import type { Session } from "./session";
import { readSettings } from "./settings";
import type { Status } from "./status";

/** What a caller of the command may give to skip the questions. */
export interface MeasureArguments {
  readonly pid?: number;
  readonly function?: string;
  readonly binary?: string;
  /** Seconds. */
  readonly duration?: number;
  readonly output?: string;
}

interface Place {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly name: string;
}

export class MeasureCommand {
  #progressToken: string | undefined;

  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly panel: Panel,
    private readonly status: Status,
    private readonly log: Log,
  ) {}

  /** The command's first argument is a MeasureArguments, or, from a menu, the file's address. */
  async run(argument: unknown): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage("PT Lens: trust this folder first. Until then only recordings can be opened.");
      return;
    }
    if (this.#progressToken !== undefined) {
      void vscode.window.showWarningMessage("PT Lens: a measurement is running already. Stop it first.");
      return;
    }
    try {
      await this.#measure(measureArguments(argument));
    } catch (error) {
      this.log.report("measure latency", error);
    }
  }

  /** Ends the running measurement and keeps what was recorded. */
  async finish(): Promise<void> {
    const token = this.#progressToken;
    if (token === undefined) return;
    try {
      await this.client.request("ptlens/finish", { token });
    } catch (error) {
      this.log.report("stop measuring", error);
    }
  }

  async #measure(given: MeasureArguments): Promise<void> {
    const place = placeAtCursor();
    const target = await this.#target(given, place);
    if (target === undefined) return;
    const chosen = await this.#function(given, place, target);
    if (chosen === undefined) return;
    const params = recordParams(given, target, chosen);
    const recording = await this.#record(params, chosen.name);
    await this.session.show(recording);
    await this.panel.showFunction(chosen);
    await this.client.refreshLenses();
  }

  async #target(given: MeasureArguments, place: Place | undefined): Promise<Target | undefined> {
    const processes = this.client
      .request("ptlens/processes", place === undefined ? {} : { source: place.file })
      .then((result) => result.processes);
    if (given.pid === undefined) {
      return pickTarget(given.function ?? place?.name ?? "", readSettings().program, processes);
    }
    const process = (await processes).find((candidate) => candidate.pid === given.pid);
    if (process === undefined) {
      throw new Error(`There is no process ${String(given.pid)}. It may have ended: choose one that runs.`);
    }
    return { kind: "process", process };
  }

  async #function(given: MeasureArguments, place: Place | undefined, target: Target): Promise<FunctionSelector | undefined> {
    if (given.function !== undefined) {
      return { name: given.function, ...(given.binary === undefined ? {} : { binary: given.binary }) };
    }
    if (place === undefined) {
      throw new Error("Open a source file and put the cursor on a function first.");
    }
    const where = target.kind === "process" ? { pid: target.process.pid } : { program: readSettings().program };
    const { candidates, message } = await this.client.request("ptlens/functionAt", {
      file: place.file,
      line: place.line,
      ...(place.name === "" ? {} : { name: place.name }),
      ...where,
    });
    const chosen = candidates.length > 1 ? await pickFunction(candidates) : candidates[0];
    if (chosen === undefined && candidates.length === 0) throw new Error(message);
    return chosen && selector(chosen);
  }

  async #record(params: RecordParams, name: string): Promise<Recording> {
    const progressToken = this.client.newProgressToken();
    this.#progressToken = progressToken;
    const button = this.status.recording();
    try {
      const { recording } = await withSteps(`PT Lens: measuring ${name}`, (onStep, token) =>
        this.client.requestWithProgress("ptlens/record", params, progressToken, onStep, token),
      );
      return recording;
    } finally {
      this.#progressToken = undefined;
      button.dispose();
    }
  }
}

function measureArguments(argument: unknown): MeasureArguments {
  if (typeof argument !== "object" || argument === null || argument instanceof vscode.Uri) return {};
  const values = argument as Record<string, unknown>;
  const { pid, function: name, binary, duration, output } = values;
  return {
    ...(typeof pid === "number" ? { pid } : {}),
    ...(typeof name === "string" ? { function: name } : {}),
    ...(typeof binary === "string" ? { binary } : {}),
    ...(typeof duration === "number" ? { duration } : {}),
    ...(typeof output === "string" ? { output } : {}),
  };
}

function placeAtCursor(): Place | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") return undefined;
  const position = editor.selection.active;
  const word = editor.document.getWordRangeAtPosition(position, /[A-Za-z_]\w*/);
  return {
    file: editor.document.uri.fsPath,
    line: position.line + 1,
    name: word === undefined ? "" : editor.document.getText(word),
  };
}

function selector({ name, binary, address }: FunctionIdentity): FunctionSelector {
  return { name, binary, ...(address === null ? {} : { address }) };
}

async function pickFunction(candidates: readonly FunctionIdentity[]): Promise<FunctionIdentity | undefined> {
  const items = candidates.map((candidate) => ({
    label: candidate.name,
    description: candidate.address ?? "",
    detail: candidate.binary,
    candidate,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: "Measure latency", placeHolder: "Function to measure" });
  return picked?.candidate;
}

function recordParams(given: MeasureArguments, target: Target, chosen: FunctionSelector): RecordParams {
  const settings = readSettings();
  const common: RecordParams = {
    function: chosen,
    duration: given.duration ?? settings.duration,
    backend: settings.backend,
    perf: settings.perfPath,
    symfs: settings.symfs,
    ...(given.output === undefined ? {} : { output: given.output }),
  };
  if (target.kind === "process") {
    return { ...common, pid: target.process.pid, startTime: target.process.start_time };
  }
  return {
    ...common,
    program: settings.program,
    arguments: [...settings.programArguments],
    ...(settings.workingDirectory === "" ? {} : { cwd: settings.workingDirectory }),
  };
}
