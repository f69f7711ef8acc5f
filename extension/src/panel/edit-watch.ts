// Notices when the source of the shown function is edited, or its program rebuilt, after the measurement.
import path from "node:path";
import * as vscode from "vscode";
import type { Client } from "../helper/client";
import type { FunctionIdentity, Result } from "../protocol/protocol";

/** After the last key press, ms. */
const pause = 500;
/** Lines of a function that are asked for. */
const mostLines = 2000;

type Annotations = Result<"ptlens/annotations">;

const isOld = (staleness: Annotations["staleness"]): boolean => staleness === "edited" || staleness === "rebuilt" || staleness === "newer_source";

export class EditWatch implements vscode.Disposable {
  readonly #subscriptions: readonly vscode.Disposable[];
  #watched: FunctionIdentity | undefined;
  #timer: NodeJS.Timeout | undefined;
  #asked = 0;
  #edited = false;

  /** `onChange` is called when the answer changes. */
  constructor(
    private readonly client: Client,
    private readonly onChange: (edited: boolean) => void,
  ) {
    const later = (document: vscode.TextDocument): void => {
      if (this.#watched !== undefined && path.basename(document.fileName) === path.basename(this.#watched.file)) this.#askLater();
    };
    this.#subscriptions = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => { later(document); }),
      vscode.workspace.onDidSaveTextDocument(later),
      vscode.workspace.onDidOpenTextDocument(later),
      vscode.window.onDidChangeWindowState(({ focused }) => { if (focused) this.#askLater(); }), // the program may have been rebuilt
    ];
  }

  get isEdited(): boolean {
    return this.#edited;
  }

  /** Watches a function instead of the one before. */
  watch(identity: FunctionIdentity | undefined): void {
    this.#watched = identity;
    this.#edited = false;
    if (identity !== undefined && identity.file !== "") this.#askLater();
  }

  #askLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // Without an answer, nothing is said.
      this.#ask().catch(() => undefined);
    }, pause);
  }

  async #ask(): Promise<void> {
    const watched = this.#watched;
    const asked = (this.#asked += 1);
    if (watched === undefined || watched.file === "") return;
    const open = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === "file");
    const name = path.basename(watched.file);
    const file = (open.find(({ uri }) => uri.fsPath === watched.file) ?? open.find(({ uri }) => path.basename(uri.fsPath) === name))?.uri.fsPath ?? watched.file;
    const { line } = await this.client.request("ptlens/presentLine", { recorded: watched.file, file, line: watched.line });
    const first = line ?? watched.line;
    const found = await this.client.request("ptlens/annotations", { file, first, last: first + mostLines });
    if (watched !== this.#watched || asked !== this.#asked) return; // a newer request answers
    const own = found.lines.filter(({ function_line: of }) => of === first);
    const edited = line === null || (own.length > 0 ? own.some(({ staleness }) => isOld(staleness)) : isOld(found.staleness));
    if (edited === this.#edited) return;
    this.#edited = edited;
    this.onChange(edited);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}
