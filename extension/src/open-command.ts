// Open recording…: a perf.data, or the folder that holds one.
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import { withSteps } from "./long-work";
import type { Panel } from "./panel";
import type { Params } from "./protocol";
import type { RecordingItem, Session } from "./session";
import { readSettings } from "./settings";

export class OpenCommand {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly panel: Panel,
    private readonly log: Log,
  ) {}

  /**
   * `argument`: a path, an address of a file, or parameters of ptlens/open; anything else asks. `functionName` is shown
   * at once.
   */
  async run(argument: unknown, functionName = ""): Promise<void> {
    try {
      const { path: named, ...given } = givenParams(argument);
      const path = named ?? (await ask());
      if (path === undefined) return;
      await this.#show({ ...given, path }, functionName);
      if (functionName === "") await this.panel.showOverview();
      else await this.panel.showFunction({ name: functionName });
    } catch (error) {
      this.log.report(vscode.l10n.t("open the recording"), error);
    }
  }

  /** As the API asks for it: rejects where the command shows a message. */
  async open(params: Params<"ptlens/open">): Promise<RecordingItem> {
    const item = await this.#show(params);
    await this.panel.showOverview();
    return item;
  }

  /** `functionName`: told of while its trace is decoded. */
  async #show({ path, ...given }: Params<"ptlens/open">, functionName = ""): Promise<RecordingItem> {
    const { symfs, kallsyms, kcore, sourceMap } = readSettings(settingsPlace(path));
    const openedWith = { symfs, kallsyms, kcore, ...given };
    const asked = functionName === "" ? {} : { function: { name: functionName } };
    const { recording } = await withSteps(vscode.l10n.t("PT Lens: opening {0}", path), (onStep, token) =>
      this.client.requestWithProgress("ptlens/open", { ...openedWith, ...asked, source_map: sourceMap, path }, this.client.newProgressToken(), onStep, token),
    );
    return this.session.show(recording, { openedWith });
  }
}

/** A recording that lies in a workspace folder is opened with that one's settings. */
function settingsPlace(path: string): vscode.Uri | undefined {
  const uri = vscode.Uri.file(path);
  return vscode.workspace.getWorkspaceFolder(uri) === undefined ? undefined : uri;
}

function givenParams(argument: unknown): Partial<Params<"ptlens/open">> {
  if (typeof argument === "string" && argument !== "") return { path: argument };
  if (argument instanceof vscode.Uri) return { path: argument.fsPath };
  const values = (typeof argument === "object" && argument !== null ? argument : {}) as Record<string, unknown>;
  const given: Partial<Params<"ptlens/open">> = {};
  for (const name of ["path", "symfs", "kallsyms", "kcore"] as const) {
    const value = values[name];
    if (typeof value === "string" && value !== "") given[name] = value;
  }
  if (typeof values.pid === "number") given.pid = values.pid;
  return given;
}

async function ask(): Promise<string | undefined> {
  const file = { label: `$(file) ${vscode.l10n.t("File…")}`, description: vscode.l10n.t("perf.data, or a bundle") };
  const folder = { label: `$(folder) ${vscode.l10n.t("Folder…")}`, description: vscode.l10n.t("that ptlens record wrote") };
  const kind = await vscode.window.showQuickPick([folder, file], { title: vscode.l10n.t("Open recording") });
  if (kind === undefined) return undefined;
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t("Open recording"),
    openLabel: vscode.l10n.t("Open recording"),
    canSelectFiles: kind === file,
    canSelectFolders: kind === folder,
    canSelectMany: false,
  });
  return chosen?.[0]?.fsPath;
}
