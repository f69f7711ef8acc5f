// The other end: VS Code's side of the panel.
import type { FromPanel } from "../extension/src/panel-messages";
import type { Translations } from "../extension/src/words";

interface VsCodeApi {
  postMessage(message: FromPanel): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();

export function post(message: FromPanel): void {
  api.postMessage(message);
}

/** A click on a source position; nothing to click on without debug information. */
export function reveal(file: string, line: number): void {
  if (file !== "") post({ type: "reveal", file, line });
}

/** Of the page's texts, as it was made with them. */
export function translations(): Translations {
  return JSON.parse(document.getElementById("translations")?.textContent ?? "{}") as Translations;
}
