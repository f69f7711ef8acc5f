// The Recordings view in the side bar. It marks the active recording and the baseline.
import * as vscode from "vscode";
import { ListView } from "../base/list-view";
import { recordingLine, recordingTooltip } from "./recording-text";
import type { RecordingItem, Session } from "./session";

export class RecordingsView extends ListView<RecordingItem> {
  constructor(private readonly session: Session) {
    super("ptlens.recordings");
    this.own(
      session.onDidChangeList(() => {
        this.redraw();
      }),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) void session.check();
      }),
    );
  }

  protected override rows(): RecordingItem[] {
    return [...this.session.recordings];
  }

  override getTreeItem(item: RecordingItem): vscode.TreeItem {
    const active = this.session.active?.key === item.key;
    const baseline = this.session.baseline?.key === item.key;
    const row = new vscode.TreeItem(item.name);
    row.id = item.key;
    row.description = recordingLine(item, active, baseline);
    row.tooltip = recordingTooltip(item);
    row.iconPath = new vscode.ThemeIcon(icon(item, active, baseline));
    row.contextValue = [
      "recording",
      ...(active ? ["active"] : ["idle"]),
      ...(baseline ? ["baseline"] : []),
      ...(item.missing ? ["missing"] : ["present"]),
      ...(item.measuredWith === undefined ? [] : ["measured"]),
    ].join(" ");
    row.command = { command: "ptlens.recording.activate", title: vscode.l10n.t("Show"), arguments: [item] };
    row.accessibilityInformation = { label: `${item.name}, ${row.description}` };
    return row;
  }
}

function icon(item: RecordingItem, active: boolean, baseline: boolean): string {
  if (item.missing || item.problem !== undefined) return "warning";
  if (active) return "pass-filled";
  return baseline ? "git-compare" : "graph-line";
}
