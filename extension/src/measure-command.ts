// Measure latency: the function at the cursor, of what the user picks: a process, a thread, a program that
// is started. The same with a snapshot, and until a slow call is caught.
import path from "node:path";
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Debuggees } from "./debuggees";
import { functionAt } from "./function-picker";
import type { Log } from "./log";
import { measureArguments, parseThreshold, type Keep, type MeasureArguments } from "./measure-arguments";
import type { Panel } from "./panel";
import { placeAtCursor, placeOf, type Place } from "./place";
import { pickTarget, type Target } from "./process-picker";
import type { ProgramTarget } from "./program-target";
import { programTargets, runTask } from "./program-targets";
import type { FunctionSelector, RecordParams } from "./protocol";
import { mustBeTrusted, type Recorder } from "./recorder";
import { readSettings } from "./settings";
import { formatDuration } from "./units";

export class MeasureCommand {
  constructor(
    private readonly client: Client,
    private readonly recorder: Recorder,
    private readonly panel: Panel,
    private readonly debuggees: Debuggees,
    private readonly log: Log,
  ) {}

  /** The command's first argument is a MeasureArguments, or, from a menu, the file's address. */
  async run(argument: unknown): Promise<void> {
    await this.#attempt(vscode.l10n.t("measure latency"), () => this.#measure(measureArguments(argument), { kind: "all" }));
  }

  /** Keeps the last moments alone, until the user ends it. */
  async recordSnapshot(argument: unknown): Promise<void> {
    const given = { duration: 0, ...measureArguments(argument) };
    await this.#attempt(vscode.l10n.t("record a snapshot"), () => this.#measure(given, { kind: "snapshot" }));
  }

  /** Records until a call of a function took longer than a time, and shows it with what led up to it. */
  async catchSlowCall(argument: unknown): Promise<void> {
    await this.#attempt(vscode.l10n.t("catch a slow call"), async () => {
      const given = measureArguments(argument);
      const slowerThan = given.slowerThan ?? (await askThreshold());
      if (slowerThan === undefined) return;
      await this.#measure({ duration: 0, ...given }, { kind: "slowCall", slowerThan });
    });
  }

  /** Asks which process or program; those built from the editor's file come first. */
  askTarget(editor: vscode.TextEditor | undefined): Promise<Target | undefined> {
    const file = editor?.document.uri.scheme === "file" ? editor.document.uri.fsPath : undefined;
    return this.#target({}, file === undefined ? undefined : placeOf(file, 1, ""), { kind: "all" });
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.log.report(what, error);
    }
  }

  async #measure(given: MeasureArguments, keep: Keep): Promise<void> {
    mustBeTrusted();
    const place = given.file === undefined ? await placeAtCursor() : placeOf(given.file, given.line ?? 1, given.function ?? "");
    const target = await this.#target(given, place, keep);
    if (target === undefined) return;
    if (target.kind === "program" && !(await prepare(target.program))) return;
    const chosen = await this.#function(given, place, target);
    if (chosen === undefined) return;
    const params = { ...baseParams(settingsPlace(target, place)), ...recordParams(given, target, chosen, keep) };
    const measured = target.kind === "process" ? target.process.name : path.basename(target.program.program);
    await this.recorder.measure(params, { functions: [chosen], target: measured }, { ...titleOf(chosen, keep), snapshot: keep.kind !== "all" });
    await (keep.kind === "slowCall" ? this.panel.showSlowCall(chosen, keep.slowerThan) : this.panel.showFunction(chosen));
  }

  async #target(given: MeasureArguments, place: Place | undefined, keep: Keep): Promise<Target | undefined> {
    const processes = this.client
      .request("ptlens/processes", place === undefined ? {} : { source: place.file })
      .then((result) => result.processes);
    if (given.pid === undefined) {
      return pickTarget(pickerTitle(given.function ?? (place === undefined || place.name === "" ? (place?.symbol ?? "") : place.name), keep), {
        programs: programTargets(),
        debuggees: this.debuggees.all,
        processes,
        threads: async (pid) => (await this.client.request("ptlens/threads", { pid })).threads,
      });
    }
    const process = (await processes).find((candidate) => candidate.pid === given.pid);
    if (process === undefined) {
      throw new Error(vscode.l10n.t("There is no process {0}. It may have ended: choose one that runs.", given.pid));
    }
    return { kind: "process", process, ...(given.tid === undefined ? {} : { thread: { tid: given.tid, name: "", cpu_percent: 0 } }) };
  }

  async #function(given: MeasureArguments, place: Place | undefined, target: Target): Promise<FunctionSelector | undefined> {
    if (given.function !== undefined) {
      const { binary, address, all } = given;
      return {
        name: given.function,
        ...(binary === undefined ? {} : { binary }),
        ...(address === undefined ? {} : { address }),
        ...(all === undefined ? {} : { all }),
      };
    }
    if (place === undefined) {
      throw new Error(vscode.l10n.t("Open a source file and put the cursor on a function first."));
    }
    return functionAt(this.client, place, target.kind === "process" ? { pid: target.process.pid } : { program: target.program.program });
  }
}

/** Runs the task that builds the program. False: the user does not want to go on. */
async function prepare({ preLaunchTask, folder }: ProgramTarget): Promise<boolean> {
  if (preLaunchTask === "") return true;
  const run = vscode.l10n.t("Run {0}", preLaunchTask);
  const without = vscode.l10n.t("Start Without It");
  const question = vscode.l10n.t("This launch configuration runs the task {0} first.", preLaunchTask);
  const answer = await vscode.window.showInformationMessage(question, { modal: true }, run, without);
  if (answer === run && !(await runTask(preLaunchTask, folder))) {
    throw new Error(vscode.l10n.t("The task {0} failed, or is not there. See its terminal.", preLaunchTask));
  }
  return answer !== undefined;
}

async function askThreshold(): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t("Catch a slow call"),
    prompt: vscode.l10n.t("Record until a call of the function takes longer than"),
    value: "5 ms",
    placeHolder: "5 ms, 250 µs, 1.5 s",
    validateInput: (value) => (parseThreshold(value) === undefined ? vscode.l10n.t("A time: a number with ns, µs, ms or s") : undefined),
  });
  return text === undefined ? undefined : parseThreshold(text);
}

function pickerTitle(name: string, { kind }: Keep): string {
  switch (kind) {
    case "all":
      return name === "" ? vscode.l10n.t("Measure latency") : vscode.l10n.t("Measure latency of {0}", name);
    case "snapshot":
      return name === "" ? vscode.l10n.t("Record a snapshot") : vscode.l10n.t("Record a snapshot of {0}", name);
    case "slowCall":
      return name === "" ? vscode.l10n.t("Catch a slow call") : vscode.l10n.t("Catch a slow call of {0}", name);
  }
}

function titleOf({ name }: FunctionSelector, keep: Keep): { readonly title?: string } {
  if (keep.kind !== "slowCall") return {};
  return { title: vscode.l10n.t("PT Lens: waiting for a call of {0} that takes {1}", name, formatDuration(keep.slowerThan)) };
}

/** What the settings say of every measurement; of the folder that holds `resource`, or the file that is open. */
export function baseParams(resource?: vscode.Uri): RecordParams {
  const settings = readSettings(resource);
  return {
    duration: settings.duration,
    backend: settings.backend,
    perf: settings.perfPath,
    symfs: settings.symfs,
    source_map: settings.sourceMap,
    folder: settings.recordingsFolder,
  };
}

export function targetParams(target: Target): RecordParams {
  if (target.kind === "process") {
    const { process, thread } = target;
    if (thread === undefined) return { pid: process.pid, start_time: process.start_time };
    // The start time is the process's, which its other threads do not have.
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

/** Whose settings hold: those of the program's folder, else of the source's. */
export function settingsPlace(target: Target, place: { readonly file: string } | undefined): vscode.Uri | undefined {
  const named = target.kind === "program" && target.program.folder !== "" ? target.program.folder : undefined;
  const folder = named === undefined ? undefined : vscode.workspace.workspaceFolders?.find(({ name }) => name === named);
  return folder?.uri ?? (place === undefined ? undefined : vscode.Uri.file(place.file));
}

function recordParams(given: MeasureArguments, target: Target, chosen: FunctionSelector, keep: Keep): RecordParams {
  return {
    ...targetParams(target),
    function: chosen,
    ...(keep.kind === "all" ? {} : { snapshot: true }),
    ...(keep.kind === "slowCall" ? { slower_than: keep.slowerThan } : {}),
    ...(given.duration === undefined ? {} : { duration: given.duration }),
    ...(given.output === undefined ? {} : { output: given.output }),
  };
}
