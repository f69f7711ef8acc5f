// Describes a recording: one line for the side bar, and a tooltip with all its details.
import * as vscode from "vscode";
import { backendName } from "../base/backend-name";
import { formatCount, formatDuration } from "../base/units";
import { isLossy } from "./recording-entry";
import type { RecordingItem } from "./session";

const time = new Intl.DateTimeFormat(vscode.env.language, { dateStyle: "medium", timeStyle: "short" });
const timeToday = new Intl.DateTimeFormat(vscode.env.language, { timeStyle: "short" });

function when(item: RecordingItem): string {
  const date = new Date(item.when);
  return date.toDateString() === new Date().toDateString() ? timeToday.format(date) : time.format(date);
}

/** Returns "14:05 · order_server · 5.00 s · lost 1.20 ms", after "active" or "baseline" if it is one. */
export function recordingLine(item: RecordingItem, active: boolean, baseline: boolean): string {
  const { figures } = item;
  return [
    ...(active ? [vscode.l10n.t("active")] : []),
    ...(baseline ? [vscode.l10n.t("baseline")] : []),
    ...(item.missing ? [vscode.l10n.t("files missing")] : []),
    when(item),
    ...(item.target === "" || item.target === item.name ? [] : [item.target]),
    formatDuration(figures.trace_ns),
    ...(isLossy(figures) ? [lossText(item)] : []),
  ].join(" · ");
}

export function lossText({ figures }: Pick<RecordingItem, "figures">): string {
  const parts = [
    ...(figures.lost_ns > 0 ? [vscode.l10n.t("lost {0}", formatDuration(figures.lost_ns))] : []),
    ...(figures.lost_records > 0 ? [vscode.l10n.t("{0} records lost", formatCount(figures.lost_records))] : []),
    ...(figures.without_code === undefined ? [] : [vscode.l10n.t("code missing: {0}", formatCount(figures.without_code))]),
    ...(figures.decode_errors > 0 ? [vscode.l10n.t("{0} decode errors", formatCount(figures.decode_errors))] : []),
  ];
  return parts.length === 0 ? vscode.l10n.t("nothing lost") : parts.join(" · ");
}

export function recordingTooltip(item: RecordingItem): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  const line = (label: string, value: string): void => {
    if (value === "") return;
    text.appendMarkdown("- ").appendText(`${label}: ${value}`).appendMarkdown("\n");
  };
  text.appendMarkdown("**").appendText(item.name).appendMarkdown("**\n\n");
  line(vscode.l10n.t("functions"), item.functions.map(({ name }) => name).join(", "));
  line(vscode.l10n.t("target"), item.target);
  line(vscode.l10n.t("made"), time.format(new Date(item.when)));
  line(vscode.l10n.t("measured with"), backendName(item.figures.backend));
  line(vscode.l10n.t("duration"), formatDuration(item.figures.trace_ns));
  line(vscode.l10n.t("loss"), lossText(item));
  line(vscode.l10n.t("threads"), formatCount(item.figures.threads));
  line(vscode.l10n.t("path"), item.path);
  if (item.missing) line(vscode.l10n.t("problem"), vscode.l10n.t("its files are missing"));
  else line(vscode.l10n.t("problem"), item.problem ?? "");
  return text;
}
