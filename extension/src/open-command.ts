// Open recording…: a perf.data, or the folder that holds one.
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import { withSteps } from "./long-work";
import type { Panel } from "./panel";
import type { Params } from "./protocol";
import type { Session } from "./session";
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
      const given = givenParams(argument);
      const path = given.path ?? (await ask());
      if (path === undefined) return;
      const { symfs, kallsyms, kcore } = readSettings();
      const params = { symfs, kallsyms, kcore, ...given, path };
      const { recording } = await withSteps(`PT Lens: opening ${path}`, (onStep, token) =>
        this.client.requestWithProgress("ptlens/open", params, this.client.newProgressToken(), onStep, token),
      );
      await this.session.show(recording);
      if (functionName === "") await this.panel.showOverview();
      else await this.panel.showFunction({ name: functionName });
      await this.client.refreshLenses();
    } catch (error) {
      this.log.report("open recording", error);
    }
  }
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
  const file = { label: "$(file) File…", description: "perf.data, or a bundle" };
  const folder = { label: "$(folder) Folder…", description: "that ptlens record wrote" };
  const kind = await vscode.window.showQuickPick([folder, file], { title: "Open recording" });
  if (kind === undefined) return undefined;
  const chosen = await vscode.window.showOpenDialog({
    title: "Open recording",
    openLabel: "Open recording",
    canSelectFiles: kind === file,
    canSelectFolders: kind === folder,
    canSelectMany: false,
  });
  return chosen?.[0]?.fsPath;
}
