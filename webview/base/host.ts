// Messages to the extension, and the data that it wrote into the page.
import type { FromPanel } from "../../extension/src/panel/panel-messages";

interface VsCodeApi {
  postMessage(message: FromPanel): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();

export function post(message: FromPanel): void {
  api.postMessage(message);
}

/** Opens a source line in the editor. Does nothing without debug information. */
export function reveal(file: string, line: number): void {
  if (file !== "") post({ type: "reveal", file, line });
}

/** Returns the translations that the extension wrote into the page; empty for English. */
export function translations(): Record<string, string> {
  return JSON.parse(document.getElementById("translations")?.textContent ?? "{}") as Record<string, string>;
}
