// Open Recording: a perf.data file, a bundle, or the folder of a recording.
import * as vscode from "vscode";
import { asRecord } from "../base/records";
import { readSettings } from "../base/settings";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { Params } from "../protocol/protocol";
import { chooseFolderOfBinaries, offerFolderOfBinaries } from "./missing-code";
import { openRecording } from "./open-recording";
import { openedWithOf } from "./recording-entry";
import type { ResultView } from "./result-view";
import type { RecordingItem, Session } from "./session";

export class OpenCommand {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly view: ResultView,
    private readonly log: Log,
  ) {}

  /**
   * Opens a recording and shows it. `argument` is a path, the URI of a file, or parameters of ptlens/open; for anything
   * else the user is asked. If `functionName` is given, the panel shows that function.
   */
  run(argument: unknown, functionName = ""): Promise<void> {
    return this.log.attempt("open the recording", async () => {
      const { path: givenPath, ...given } = openParams(argument);
      const path = givenPath ?? (await askForPath());
      if (path === undefined) return;
      await this.#open({ ...given, path }, functionName);
      if (functionName === "") await this.view.showOverview();
      else await this.view.showFunction({ name: functionName });
    });
  }

  /** Asks for the folder with the binaries of the active recording, and opens it again with them. */
  chooseBinaries(): Promise<void> {
    return this.log.attempt("choose the folder of binaries", async () => {
      const item = this.session.active;
      if (item !== undefined) await chooseFolderOfBinaries((symfs) => this.run({ ...item.openedWith, path: item.path, symfs }));
    });
  }

  /** Opens a recording for the API: rejects instead of showing a message. */
  async open(params: Params<"ptlens/open">): Promise<RecordingItem> {
    const item = await this.#open(params);
    await this.view.showOverview();
    return item;
  }

  /** While the trace is decoded, the helper reports on the function `functionName`. */
  async #open({ path, ...given }: Params<"ptlens/open">, functionName = ""): Promise<RecordingItem> {
    const { symfs, kallsyms, kcore, sourceMap } = readSettings(workspaceUri(path));
    const openedWith = { symfs, kallsyms, kcore, ...given };
    const reported = functionName === "" ? {} : { function: { name: functionName } };
    const params = { ...openedWith, ...reported, source_map: sourceMap, path };
    const recording = await this.session.whileOpening(path, () => openRecording(this.client, vscode.l10n.t("PT Lens: Opening {0}", path), params));
    const item = await this.session.show(recording, { openedWith });
    void offerFolderOfBinaries(recording, (folder) => this.run({ ...openedWith, path, symfs: folder }, functionName));
    return item;
  }
}

/** Returns the URI of a recording in a workspace folder, whose settings then apply. */
function workspaceUri(path: string): vscode.Uri | undefined {
  const uri = vscode.Uri.file(path);
  return vscode.workspace.getWorkspaceFolder(uri) === undefined ? undefined : uri;
}

function openParams(argument: unknown): Partial<Params<"ptlens/open">> {
  if (typeof argument === "string" && argument !== "") return { path: argument };
  if (argument instanceof vscode.Uri) return { path: argument.fsPath };
  const { path } = asRecord(argument);
  return { ...openedWithOf(argument), ...(typeof path === "string" && path !== "" ? { path } : {}) };
}

async function askForPath(): Promise<string | undefined> {
  const file = { label: `$(file) ${vscode.l10n.t("File…")}`, description: vscode.l10n.t("perf.data or a bundle") };
  const folder = { label: `$(folder) ${vscode.l10n.t("Folder…")}`, description: vscode.l10n.t("written by ptlens record or uftrace record") };
  const kind = await vscode.window.showQuickPick([folder, file], { title: vscode.l10n.t("Open Recording") });
  if (kind === undefined) return undefined;
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t("Open Recording"),
    openLabel: vscode.l10n.t("Open Recording"),
    canSelectFiles: kind === file,
    canSelectFolders: kind === folder,
    canSelectMany: false,
  });
  return chosen?.[0]?.fsPath;
}
