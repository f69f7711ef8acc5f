// The settings of the annotations. Changes apply at once.
import * as vscode from "vscode";

export type Show = "both" | "lens" | "line" | "none";
export type HeatDisplay = "ruler" | "gutter" | "none";

export interface AnnotationSettings {
  readonly lens: boolean;
  readonly line: boolean;
  readonly heat: HeatDisplay;
  /** Whether functions without figures get a code lens that measures. */
  readonly measureLens: boolean;
}

export function annotationSettings(resource?: vscode.Uri): AnnotationSettings {
  const values = vscode.workspace.getConfiguration("ptlens", resource ?? null);
  const show = values.get<Show>("show", "both");
  return {
    lens: show === "both" || show === "lens",
    line: show === "both" || show === "line",
    heat: values.get<HeatDisplay>("heat", "gutter"),
    measureLens: values.get<boolean>("measureLens", false),
  };
}

const names = ["ptlens.show", "ptlens.heat", "ptlens.measureLens"] as const;

export function onDidChangeAnnotationSettings(listener: () => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration((event) => {
    if (names.some((name) => event.affectsConfiguration(name))) listener();
  });
}
