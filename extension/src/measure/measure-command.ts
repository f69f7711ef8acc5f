// Measure Latency: the function at the cursor, in a process, a thread or a program that the user chooses. Also with a
// snapshot, and until a slow call is caught.
import path from "node:path";
import * as vscode from "vscode";
import { formatDuration } from "../base/units";
import { ExtensionError } from "../errors/failure";
import type { Log } from "../errors/log";
import { withCandidates } from "../functions/candidates";
import { functionAt } from "../functions/function-picker";
import type { Client } from "../helper/client";
import type { Panel } from "../panel/panel";
import type { FunctionSelector, RecordParams } from "../protocol/protocol";
import { cursorLocation, sourceLocation, type SourceLocation } from "../source/cursor-location";
import type { Debuggees } from "../targets/debuggees";
import type { ProgramTarget } from "../targets/program-target";
import { pickTarget, type Target } from "../targets/target-picker";
import { runTask, workspacePrograms } from "../targets/workspace-programs";
import { measureArguments, parseThreshold, type MeasureArguments, type Mode } from "./measure-arguments";
import { settingsParams, settingsResource, targetParams, withFunctions } from "./record-params";
import { requireTrust, type Recorder } from "./recorder";
import { runningProcess } from "./running-process";

export class MeasureCommand {
  constructor(
    private readonly client: Client,
    private readonly recorder: Recorder,
    private readonly panel: Panel,
    private readonly debuggees: Debuggees,
    private readonly log: Log,
  ) {}

  /** `argument` is a MeasureArguments or, from a menu, the URI of the file. */
  run(argument: unknown): Promise<void> {
    return this.log.attempt("measure latency", () => this.#measure(measureArguments(argument), { kind: "all" }));
  }

  /** Records into buffers that are overwritten, until the user stops. */
  recordSnapshot(argument: unknown): Promise<void> {
    return this.log.attempt("record a snapshot", () => this.#measure({ duration: 0, ...measureArguments(argument) }, { kind: "snapshot" }));
  }

  /** Records until a call of a function takes longer than a threshold, and shows this call and the calls before it. */
  catchSlowCall(argument: unknown): Promise<void> {
    return this.log.attempt("catch a slow call", async () => {
      const given = measureArguments(argument);
      const slowerThan = given.slowerThan ?? (await askThreshold());
      if (slowerThan === undefined) return;
      await this.#measure({ duration: 0, ...given }, { kind: "slowCall", slowerThan });
    });
  }

  /** Asks for a process or program. Those that were built from the editor's file come first. */
  askTarget(editor: vscode.TextEditor | undefined): Promise<Target | undefined> {
    const file = editor?.document.uri.scheme === "file" ? editor.document.uri.fsPath : undefined;
    return this.#target({}, file === undefined ? undefined : sourceLocation(file, 1, ""), { kind: "all" });
  }

  async #measure(given: MeasureArguments, mode: Mode): Promise<void> {
    requireTrust();
    const location = given.file === undefined ? await cursorLocation() : sourceLocation(given.file, given.line ?? 1, given.function ?? "");
    const target = await this.#target(given, location, mode);
    if (target === undefined) return;
    if (target.kind === "program" && !(await prepare(target.program))) return;
    const chosen = given.function === undefined ? await this.#functionAt(location, target) : selectorOfArguments(given.function, given);
    if (chosen === undefined) return;
    const targetName = target.kind === "process" ? target.process.name : path.basename(target.program.program);
    const shared = { ...settingsParams(settingsResource(target, location?.file)), ...targetParams(target), ...modeParams(given, mode) };
    const measured = await withCandidates(chosen, async (selector) => {
      const options = { ...title(selector, mode), snapshot: mode.kind !== "all" };
      await this.recorder.measure(withFunctions(shared, [selector]), { functions: [selector], target: targetName }, options);
      return selector;
    });
    await (mode.kind === "slowCall" ? this.panel.showSlowCall(measured, mode.slowerThan) : this.panel.showMeasured([measured]));
  }

  async #target(given: MeasureArguments, location: SourceLocation | undefined, mode: Mode): Promise<Target | undefined> {
    const processes = this.client
      .request("ptlens/processes", location === undefined ? {} : { source: location.file })
      .then((result) => result.processes);
    if (given.pid === undefined) {
      const name = given.function ?? (location?.name !== "" ? location?.name : location.symbol) ?? "";
      return pickTarget(pickerTitle(name, mode), {
        programs: workspacePrograms(),
        debuggees: this.debuggees.all,
        processes,
        threads: async (pid) => (await this.client.request("ptlens/threads", { pid })).threads,
      });
    }
    const process = await runningProcess(this.client, given.pid, processes);
    return { kind: "process", process, ...(given.tid === undefined ? {} : { thread: { tid: given.tid, name: "", cpu_percent: 0 } }) };
  }

  async #functionAt(location: SourceLocation | undefined, target: Target): Promise<FunctionSelector | undefined> {
    if (location === undefined) {
      throw new ExtensionError("not_now", vscode.l10n.t("Open a source file and place the cursor on a function first."));
    }
    return functionAt(this.client, location, target.kind === "process" ? { pid: target.process.pid } : { program: target.program.program });
  }
}

/** Runs the task that builds the program. Returns false if the user cancels. */
async function prepare({ preLaunchTask, folder }: ProgramTarget): Promise<boolean> {
  if (preLaunchTask === "") return true;
  const run = vscode.l10n.t("Run {0}", preLaunchTask);
  const skip = vscode.l10n.t("Skip the Task");
  const question = vscode.l10n.t("This launch configuration runs the task {0} first.", preLaunchTask);
  const answer = await vscode.window.showInformationMessage(question, { modal: true }, run, skip);
  if (answer === run && !(await runTask(preLaunchTask, folder))) {
    throw new ExtensionError("not_now", vscode.l10n.t("The task {0} failed or does not exist. See its terminal.", preLaunchTask), { actions: ["tryAgain"] });
  }
  return answer !== undefined;
}

async function askThreshold(): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t("Catch a slow call"),
    prompt: vscode.l10n.t("Record until a call of the function takes longer than this"),
    value: "5 ms",
    placeHolder: "5 ms, 250 µs, 1.5 s",
    validateInput: (value) => (parseThreshold(value) === undefined ? vscode.l10n.t("Enter a number and a unit: ns, µs, ms or s.") : undefined),
  });
  return text === undefined ? undefined : parseThreshold(text);
}

function pickerTitle(name: string, { kind }: Mode): string {
  switch (kind) {
    case "all":
      return name === "" ? vscode.l10n.t("Measure latency") : vscode.l10n.t("Measure latency of {0}", name);
    case "snapshot":
      return name === "" ? vscode.l10n.t("Record a snapshot") : vscode.l10n.t("Record a snapshot of {0}", name);
    case "slowCall":
      return name === "" ? vscode.l10n.t("Catch a slow call") : vscode.l10n.t("Catch a slow call of {0}", name);
  }
}

function title({ name }: FunctionSelector, mode: Mode): { readonly title?: string } {
  if (mode.kind !== "slowCall") return {};
  return { title: vscode.l10n.t("PT Lens: Waiting for a call of {0} that takes longer than {1}", name, formatDuration(mode.slowerThan)) };
}

function selectorOfArguments(name: string, { binary, address, all }: MeasureArguments): FunctionSelector {
  return {
    name,
    ...(binary === undefined ? {} : { binary }),
    ...(address === undefined ? {} : { address }),
    ...(all === undefined ? {} : { all }),
  };
}

function modeParams(given: MeasureArguments, mode: Mode): RecordParams {
  return {
    ...(mode.kind === "all" ? {} : { snapshot: true }),
    ...(mode.kind === "slowCall" ? { slower_than: mode.slowerThan } : {}),
    ...(given.duration === undefined ? {} : { duration: given.duration }),
    ...(given.output === undefined ? {} : { output: given.output }),
  };
}
