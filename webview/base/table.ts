// Tables of figures: the first columns contain text, the others are right-aligned.
import { el } from "./dom";

export interface Row {
  readonly cells: readonly (Node | string)[];
}

/** `textColumns`: number of columns with text. */
export function table(caption: string, textColumns: 1 | 2, heads: readonly string[], rows: readonly Row[]): HTMLElement {
  const head = el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text)));
  const body = rows.map(({ cells }) => el("tr", {}, ...cells.map((cell) => el("td", {}, cell))));
  return el(
    "section",
    {},
    el("h2", {}, caption),
    // The keyboard reaches it, to scroll a table that is wider than the panel.
    el("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: caption }, el("table", { className: `texts-${String(textColumns)}` }, el("thead", {}, head), el("tbody", {}, ...body))),
  );
}
