// The few kinds of decoration that lines have: one a step of heat, with text at the line's end or without, and
// one for what is not of the present text.
import * as vscode from "vscode";
import { heatSteps } from "./annotation-text";
import type { HeatPlace } from "./annotation-settings";

const gutterColours = {
  dark: ["#5A4632", "#8A5E33", "#C27A35", "#FF9A3D"],
  light: ["#F3DFC8", "#EBBE8A", "#D98B3A", "#B3560A"],
} as const;

function gutterIcon(colour: string): vscode.Uri {
  const bar = `<rect x="11" width="4" height="16" fill="${colour}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${bar}</svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}

/** One of each for as long as the setting is the same. */
export class HeatTypes implements vscode.Disposable {
  /** By step: lines whose text is drawn. */
  readonly texts: readonly vscode.TextEditorDecorationType[];
  /** By step: lines that show in the ruler alone. */
  readonly marks: readonly vscode.TextEditorDecorationType[];

  constructor(readonly place: HeatPlace) {
    const steps = Array.from({ length: heatSteps }, (_, step) => step);
    this.texts = steps.map((step) =>
      vscode.window.createTextEditorDecorationType({
        ...this.#heat(step),
        after: { fontStyle: "normal" },
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
      }),
    );
    this.marks = place === "none" ? [] : steps.map((step) => vscode.window.createTextEditorDecorationType(this.#heat(step)));
  }

  #heat(step: number): vscode.DecorationRenderOptions {
    if (this.place === "none") return {};
    const ruler = {
      overviewRulerColor: new vscode.ThemeColor(`ptlens.heat${String(step + 1)}`),
      overviewRulerLane: vscode.OverviewRulerLane.Right,
    };
    if (this.place === "ruler") return ruler;
    const icon = (colours: readonly string[]): vscode.ThemableDecorationRenderOptions => ({
      gutterIconPath: gutterIcon(colours[step] ?? "#888888"),
      gutterIconSize: "contain",
    });
    return { ...ruler, dark: icon(gutterColours.dark), light: icon(gutterColours.light) };
  }

  dispose(): void {
    for (const type of [...this.texts, ...this.marks]) type.dispose();
  }
}
