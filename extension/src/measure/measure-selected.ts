// Measure selected functions: those in the selection of the editor, or chosen in the list of functions. A
// trace holds every function, so one recording shows them all; probes are set for one function, so with
// them each is measured after the other.
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import { functionKey, selectorOf } from "../functions/function-selector";
import type { Log } from "../errors/log";
import type { MeasureCommand } from "./measure-command";
import { baseParams, settingsPlace, targetParams } from "./record-params";
import { askDoctor } from "../machine/doctor";
import type { Panel } from "../panel/panel";
import type { FunctionSelector, RecordParams } from "../protocol/protocol";
import { mustBeTrusted, type Recorder } from "./recorder";
import { readSettings } from "../base/settings";

/** Lines of a selection that are looked at without a language server. */
const mostLines = 500;

const functionKinds = new Set([
  vscode.SymbolKind.Function,
  vscode.SymbolKind.Method,
  vscode.SymbolKind.Constructor,
  vscode.SymbolKind.Operator,
]);

interface Spot {
  /** 1-based. */
  readonly line: number;
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

  /** `given`: functions to measure; without any, those in the editor's selection. */
  async run(given: readonly FunctionSelector[]): Promise<void> {
    try {
      const editor = vscode.window.activeTextEditor;
      if (given.length === 0 && editor?.document.uri.scheme !== "file") {
        throw new Error(vscode.l10n.t("Open a source file and select functions first."));
      }
      mustBeTrusted();
      const target = await this.measure.askTarget(editor);
      if (target === undefined) return;
      const params = { ...baseParams(settingsPlace(target, editor && { file: editor.document.uri.fsPath })), ...targetParams(target) };
      const functions = given.length > 0 || editor === undefined ? given : await this.#selected(editor, params);
      if (functions.length === 0) throw new Error(vscode.l10n.t("No function of this program is in the selection. Select the functions to measure."));
      const name = target.kind === "process" ? target.process.name : (params.program ?? "");
      if (functions.length === 1 || !(await this.#usesProbes())) {
        const single = functions.length === 1 ? functions[0] : undefined;
        await this.recorder.measure(single === undefined ? params : { ...params, function: single }, { functions, target: name });
        if (single === undefined) await this.panel.showOverview();
        else await this.panel.showFunction(single);
        return;
      }
      await this.#oneAfterTheOther(functions, params, name);
    } catch (error) {
      this.log.report(vscode.l10n.t("measure the selected functions"), error);
    }
  }

  async #oneAfterTheOther(functions: readonly FunctionSelector[], params: RecordParams, target: string): Promise<void> {
    const go = vscode.l10n.t("Measure One After the Other");
    const question = vscode.l10n.t(
      "Without Intel PT, probes measure one function at a time: {0} functions become {0} recordings, one after the other.",
      functions.length,
    );
    if ((await vscode.window.showInformationMessage(question, { modal: true }, go)) !== go) return;
    for (const each of functions) {
      await this.recorder.measure({ ...params, function: each }, { functions: [each], target });
      await this.panel.showFunction(each);
    }
  }

  async #usesProbes(): Promise<boolean> {
    const { backend } = readSettings();
    return (backend === "auto" ? (await askDoctor(this.client)).backend : backend) === "uprobe";
  }

  async #selected(editor: vscode.TextEditor, params: RecordParams): Promise<FunctionSelector[]> {
    const spots = await spotsOf(editor);
    const pid = params.pid ?? params.tid;
    const where = pid === undefined ? { program: params.program ?? "" } : { pid };
    const file = editor.document.uri.fsPath;
    const found = new Map<string, FunctionSelector>();
    for (const { line, name } of spots) {
      const { candidates } = await this.client.request("ptlens/functionAt", { file, line, ...(name === "" ? {} : { name }), ...where });
      const [best] = candidates;
      if (best === undefined) continue;
      found.set(functionKey(best), selectorOf(best));
    }
    return [...found.values()];
  }
}

/** A language server's symbols tell where functions begin; without one every selected line is asked about. */
async function spotsOf(editor: vscode.TextEditor): Promise<Spot[]> {
  const { document, selections } = editor;
  const symbols = await vscode.commands.executeCommand<(vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined>(
    "vscode.executeDocumentSymbolProvider",
    document.uri,
  );
  const functions = flat((symbols ?? []).filter((each): each is vscode.DocumentSymbol => "children" in each));
  const touched = functions.filter(({ range }) => selections.some((selection) => selection.intersection(range) !== undefined));
  if (touched.length > 0) {
    return touched.map(({ name, selectionRange }) => ({ line: selectionRange.start.line + 1, name: /[\w~]+$/.exec(name.replace(/\(.*$/, ""))?.[0] ?? "" }));
  }
  const lines = new Set<number>();
  for (const { start, end } of selections) {
    for (let line = start.line; line <= end.line && lines.size < mostLines; line += 1) {
      if (!document.lineAt(line).isEmptyOrWhitespace) lines.add(line + 1);
    }
  }
  return [...lines].map((line) => ({ line, name: "" }));
}

function flat(symbols: readonly vscode.DocumentSymbol[]): vscode.DocumentSymbol[] {
  return symbols.flatMap((symbol) => [...(functionKinds.has(symbol.kind) ? [symbol] : []), ...flat(symbol.children)]);
}
