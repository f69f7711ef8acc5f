// The types of line decorations: one for each level of heat, with text at the end of the line and without.
import * as vscode from "vscode";
import type { HeatDisplay } from "./annotation-settings";
import { heatLevels } from "./annotation-text";

const gutterColors = {
  dark: ["#5A4632", "#8A5E33", "#C27A35", "#FF9A3D"],
  light: ["#F3DFC8", "#EBBE8A", "#D98B3A", "#B3560A"],
} as const;

function gutterIcon(color: string): vscode.Uri {
  const bar = `<rect x="11" width="4" height="16" fill="${color}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${bar}</svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}

/** The decoration types for one value of the setting ptlens.heat. */
export class DecorationTypes implements vscode.Disposable {
  /** By level of heat: lines with text. */
  readonly texts: readonly vscode.TextEditorDecorationType[];
  /** By level of heat: lines that only appear in the overview ruler. */
  readonly marks: readonly vscode.TextEditorDecorationType[];

  constructor(readonly heat: HeatDisplay) {
    const levels = Array.from({ length: heatLevels }, (_, level) => level);
    this.texts = levels.map((level) =>
      vscode.window.createTextEditorDecorationType({
        ...this.#options(level),
        after: { fontStyle: "normal" },
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
      }),
    );
    this.marks = heat === "none" ? [] : levels.map((level) => vscode.window.createTextEditorDecorationType(this.#options(level)));
  }

  #options(level: number): vscode.DecorationRenderOptions {
    if (this.heat === "none") return {};
    const ruler = {
      overviewRulerColor: new vscode.ThemeColor(`ptlens.heat${String(level + 1)}`),
      overviewRulerLane: vscode.OverviewRulerLane.Right,
    };
    if (this.heat === "ruler") return ruler;
    const icon = (colors: readonly string[]): vscode.ThemableDecorationRenderOptions => ({
      gutterIconPath: gutterIcon(colors[level] ?? "#888888"),
      gutterIconSize: "contain",
    });
    return { ...ruler, dark: icon(gutterColors.dark), light: icon(gutterColors.light) };
  }

  dispose(): void {
    for (const type of [...this.texts, ...this.marks]) type.dispose();
  }
}
