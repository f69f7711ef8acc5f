// The types of line decorations: text and overview ruler by level of heat, and the mark in the gutter.
import * as vscode from "vscode";
import type { HeatDisplay } from "./annotation-settings";
import { gutterOpacities, heatLevels, textSize } from "./annotation-text";

const onCpu = { dark: "#3794ff", light: "#1a85ff" } as const;
const waiting = { dark: "#d18616", light: "#b85c00" } as const;

/** Returns a bar of 4 pixels, hatched where the calls of the line wait most of the time. */
function gutterIcon(color: string, opacity: number, hatched: boolean): vscode.Uri {
  const stripes = `<pattern id="h" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2.5" height="4" fill="${color}"/></pattern>`;
  const fill = hatched ? "url(#h)" : color;
  const bar = `<rect x="11" width="4" height="16" fill="${fill}" fill-opacity="${String(opacity)}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${hatched ? stripes : ""}${bar}</svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}

function gutterType(colors: { readonly dark: string; readonly light: string }, opacity: number, hatched: boolean): vscode.TextEditorDecorationType {
  const icon = (color: string): vscode.ThemableDecorationRenderOptions => ({
    gutterIconPath: gutterIcon(color, opacity, hatched),
    gutterIconSize: "contain",
  });
  return vscode.window.createTextEditorDecorationType({ dark: icon(colors.dark), light: icon(colors.light) });
}

/** The decoration types for one value of the setting ptlens.heat. */
export class DecorationTypes implements vscode.Disposable {
  /** By level of heat: lines with text. */
  readonly texts: readonly vscode.TextEditorDecorationType[];
  /** By level of heat: lines that only appear in the overview ruler. */
  readonly marks: readonly vscode.TextEditorDecorationType[];
  /** By opacity: lines that run most of the time, then lines that wait. */
  readonly gutters: readonly vscode.TextEditorDecorationType[];

  constructor(readonly heat: HeatDisplay) {
    const levels = Array.from({ length: heatLevels }, (_, level) => level);
    this.texts = levels.map((level) =>
      vscode.window.createTextEditorDecorationType({
        ...this.#ruler(level),
        after: { fontStyle: "normal", textDecoration: `none; font-size: ${String(100 * textSize)}%` },
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
      }),
    );
    this.marks = heat === "none" ? [] : levels.map((level) => vscode.window.createTextEditorDecorationType(this.#ruler(level)));
    this.gutters =
      heat === "gutter"
        ? [...gutterOpacities.map((opacity) => gutterType(onCpu, opacity, false)), ...gutterOpacities.map((opacity) => gutterType(waiting, opacity, true))]
        : [];
  }

  #ruler(level: number): vscode.DecorationRenderOptions {
    if (this.heat === "none") return {};
    return {
      overviewRulerColor: new vscode.ThemeColor(`ptlens.heat${String(level + 1)}`),
      overviewRulerLane: vscode.OverviewRulerLane.Right,
    };
  }

  dispose(): void {
    for (const type of [...this.texts, ...this.marks, ...this.gutters]) type.dispose();
  }
}
