// The Recordings view in the side bar. It marks the active recording and the baseline.
import * as vscode from "vscode";
import { recordingLine, recordingTooltip } from "./recording-text";
import type { RecordingItem, Session } from "./session";

export class RecordingsView implements vscode.TreeDataProvider<RecordingItem>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #subscriptions: readonly { dispose(): unknown }[];
  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: vscode.TreeView<RecordingItem>;

  constructor(private readonly session: Session) {
    this.view = vscode.window.createTreeView("ptlens.recordings", { treeDataProvider: this });
    this.#subscriptions = [
      this.view,
      this.#changed,
      session.onDidChangeList(() => {
        this.#changed.fire(undefined);
      }),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) void session.check();
      }),
    ];
  }

  getChildren(parent?: RecordingItem): RecordingItem[] {
    return parent === undefined ? [...this.session.recordings] : [];
  }

  getTreeItem(item: RecordingItem): vscode.TreeItem {
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

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

function icon(item: RecordingItem, active: boolean, baseline: boolean): string {
  if (item.missing || item.problem !== undefined) return "warning";
  if (active) return "pass-filled";
  return baseline ? "git-compare" : "graph-line";
}
