// Open recording…: a perf.data, or the folder that holds one.
import * as vscode from "vscode";
import type { Client } from "./client";
import type { Log } from "./log";
import { withSteps } from "./long-work";
import type { Panel } from "./panel";
import type { Session } from "./session";
import { readSettings } from "./settings";

export class OpenCommand {
  constructor(
    private readonly client: Client,
    private readonly session: Session,
    private readonly panel: Panel,
    private readonly log: Log,
  ) {}

  /** `argument`: a path or an address of a file; anything else asks. `functionName` is shown at once. */
  async run(argument: unknown, functionName = ""): Promise<void> {
    try {
      const path = givenPath(argument) ?? (await ask());
      if (path === undefined) return;
      const { symfs } = readSettings();
      const { recording } = await withSteps(`PT Lens: opening ${path}`, (onStep, token) =>
        this.client.requestWithProgress("ptlens/open", { path, symfs }, this.client.newProgressToken(), onStep, token),
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

function givenPath(argument: unknown): string | undefined {
  if (typeof argument === "string" && argument !== "") return argument;
  return argument instanceof vscode.Uri ? argument.fsPath : undefined;
}

async function ask(): Promise<string | undefined> {
  const file = { label: "$(file) File…", description: "perf.data" };
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
