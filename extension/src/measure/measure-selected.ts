// Measure Selected Functions: those in the selection of the editor, or chosen in the list of functions. One recording
// measures all of them.
import path from "node:path";
import * as vscode from "vscode";
import { ExtensionError } from "../errors/failure";
import type { Log } from "../errors/log";
import { functionKey, selectorOf } from "../functions/function-selector";
import type { Client } from "../helper/client";
import type { Panel } from "../panel/panel";
import type { FunctionSelector, RecordParams } from "../protocol/protocol";
import { outlineFunctions } from "../source/outline";
import type { MeasureCommand } from "./measure-command";
import { settingsParams, settingsResource, targetParams, withFunctions } from "./record-params";
import { requireTrust, type Recorder } from "./recorder";

/** Most lines of a selection that are looked up without a language server. */
const mostLines = 500;

/** Most functions of one recording, as in RecordParams. */
const mostFunctions = 64;

interface SelectedLine {
  /** 1-based. */
  readonly line: number;
  /** Name of the function that begins there, empty if unknown. */
  readonly name: string;
}

export class MeasureSelected {
  constructor(
    private readonly client: Client,
    private readonly measure: MeasureCommand,
    private readonly recorder: Recorder,
    private readonly panel: Panel,
    private readonly log: Log,
  ) {}

  /** Measures the given functions; if the list is empty, the functions in the editor's selection. */
  run(given: readonly FunctionSelector[]): Promise<void> {
    return this.log.attempt("measure the selected functions", async () => {
      const editor = vscode.window.activeTextEditor;
      if (given.length === 0 && editor?.document.uri.scheme !== "file") {
        throw new ExtensionError("not_now", vscode.l10n.t("Open a source file and select functions first."));
      }
      requireTrust();
      const target = await this.measure.askTarget(editor);
      if (target === undefined) return;
      const params = { ...settingsParams(settingsResource(target, editor?.document.uri.fsPath)), ...targetParams(target) };
      const functions = given.length > 0 || editor === undefined ? given : await this.#selected(editor, params);
      if (functions.length > mostFunctions) {
        throw new ExtensionError("not_now", vscode.l10n.t("At most {0} functions can be measured together. Select fewer.", mostFunctions));
      }
      if (functions.length === 0) {
        throw new ExtensionError("not_now", vscode.l10n.t("The selection contains no function of this program. Select the functions to measure."), { actions: ["measure"] });
      }
      const name = target.kind === "process" ? target.process.name : path.basename(target.program.program);
      await this.recorder.measure(withFunctions(params, functions), { functions, target: name });
      await this.panel.showMeasured(functions);
    });
  }

  async #selected(editor: vscode.TextEditor, params: RecordParams): Promise<FunctionSelector[]> {
    const pid = params.pid ?? params.tid;
    const where = pid === undefined ? { program: params.program ?? "" } : { pid };
    const file = editor.document.uri.fsPath;
    const found = new Map<string, FunctionSelector>();
    for (const { line, name } of await selectedLines(editor)) {
      const { candidates } = await this.client.request("ptlens/functionAt", { file, line, ...(name === "" ? {} : { name }), ...where });
      const [best] = candidates;
      if (best !== undefined) found.set(functionKey(best), selectorOf(best));
    }
    return [...found.values()];
  }
}

/** Returns the first lines of the functions in the selection; without a language server, all selected lines. */
async function selectedLines({ document, selections }: vscode.TextEditor): Promise<SelectedLine[]> {
  const functions = await outlineFunctions(document);
  const selected = functions.filter(({ range }) => selections.some((selection) => selection.intersection(range) !== undefined));
  if (selected.length > 0) {
    return selected.map(({ name, nameRange }) => ({ line: nameRange.start.line + 1, name: /[\w~]+$/.exec(name)?.[0] ?? "" }));
  }
  const lines = new Set<number>();
  for (const { start, end } of selections) {
    for (let line = start.line; line <= end.line && lines.size < mostLines; line += 1) {
      if (!document.lineAt(line).isEmptyOrWhitespace) lines.add(line + 1);
    }
  }
  return [...lines].map((line) => ({ line, name: "" }));
}
