import * as vscode from "vscode";
import type { RecordingItem, Session } from "./session";

/** Asks for one of the recordings. */
export async function pickRecording(recordings: readonly RecordingItem[], title: string): Promise<RecordingItem | undefined> {
  const items = recordings.map((item) => ({ label: item.name, description: item.target, detail: item.path, item }));
  const picked = await vscode.window.showQuickPick(items, { title, matchOnDetail: true });
  return picked?.item;
}

/** Returns the recording that is selected in the list, if the list is visible. */
export function selectedRecording(session: Session, list: vscode.TreeView<RecordingItem>): RecordingItem | undefined {
  return session.find(list.visible ? list.selection[0]?.key : undefined);
}
