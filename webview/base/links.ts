// Links to functions and to source lines.
import * as l10n from "@vscode/l10n";
import type { FunctionRef } from "../../extension/src/panel/panel-messages";
import { baseName, link } from "./dom";
import { post, reveal } from "./host";

/** Creates a link that shows the function in the panel. */
export function functionLink({ name, binary, address }: FunctionRef): HTMLElement {
  return link(name, l10n.t("Show {0}", name), () => {
    post({ type: "function", function: { name, binary, address } });
  });
}

/** Creates a button that measures the function in the same process. */
export function deeperButton(shown: FunctionRef): HTMLElement {
  return link(l10n.t("Go Deeper"), l10n.t("Measure {0} in the same process", shown.name), () => {
    post({ type: "goDeeper", function: refOf(shown) });
  });
}

/** Adds what the panel's context menu needs, which offers Go Deeper. */
export function withMenu<E extends HTMLElement>(element: E, shown: FunctionRef): E {
  element.dataset.vscodeContext = menuContext(shown);
  return element;
}

export function menuContext(shown: FunctionRef): string {
  return JSON.stringify({ ...refOf(shown), webviewSection: "function", preventDefaultContextMenuItems: true });
}

function refOf({ name, binary, address }: FunctionRef): FunctionRef {
  return { name, binary, address };
}

/** Creates a link to a source line, or `fallback` as text without debug information. */
export function sourceLink(file: string, line: number, fallback: string): HTMLElement | string {
  if (file === "") return fallback;
  return link(`${baseName(file)}:${String(line)}`, `${file}:${String(line)}`, () => {
    reveal(file, line);
  });
}
