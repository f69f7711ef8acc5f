// Check This Machine: shows the abilities of this machine, and the commands that change them, as a document.
import * as vscode from "vscode";
import { backendName } from "../base/backend-name";
import type { Log } from "../errors/log";
import type { Client } from "../helper/client";
import type { DoctorResult, Finding } from "../protocol/protocol";
import { askDoctor } from "./doctor";

const scheme = "ptlens-doctor";

export class DoctorCommand implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  #text = "";

  readonly onDidChange = this.#changed.event;

  constructor(
    private readonly client: Client,
    private readonly log: Log,
    private readonly onResult: (result: DoctorResult) => void,
  ) {}

  run(): Promise<void> {
    return this.log.attempt("check this machine", async () => {
      const result = await askDoctor(this.client);
      this.onResult(result);
      this.#text = doctorText(result);
      const uri = vscode.Uri.from({ scheme, path: `/PT Lens: ${vscode.l10n.t("this machine")}.md` });
      this.#changed.fire(uri);
      await vscode.commands.executeCommand("markdown.showPreview", uri);
    });
  }

  provideTextDocumentContent(): string {
    return this.#text;
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

const marks: Record<Finding["state"], string> = { fine: "✓", limited: "!", missing: "✗" };

function doctorText(result: DoctorResult): string {
  const summary = result.backend === "none" ? vscode.l10n.t("PT Lens cannot measure on this machine yet.") : vscode.l10n.t("PT Lens measures with {0}.", backendName(result.backend));
  const findings = result.findings.map(({ state, title, detail, why, remedy, temporary, permanent }) => {
    const lines = [`## ${marks[state]} ${title}`, "", detail];
    if (state !== "fine") lines.push("", why);
    if (remedy !== "" && remedy !== temporary && remedy !== permanent) lines.push("", `> ${remedy}`);
    if (temporary !== "") lines.push("", vscode.l10n.t("Until the next restart:"), "", "```sh", temporary, "```");
    if (permanent !== "") lines.push("", vscode.l10n.t("Permanently:"), "", "```sh", permanent, "```");
    return lines.join("\n");
  });
  return [`# ${vscode.l10n.t("This machine")}`, "", summary, "", findings.join("\n\n"), ""].join("\n");
}
