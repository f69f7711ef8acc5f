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

/** Creates a link to a source line, or `fallback` as text without debug information. */
export function sourceLink(file: string, line: number, fallback: string): HTMLElement | string {
  if (file === "") return fallback;
  return link(`${baseName(file)}:${String(line)}`, `${file}:${String(line)}`, () => {
    reveal(file, line);
  });
}
