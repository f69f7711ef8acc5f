// Tables of figures: the first columns are text, the others are aligned to the right.
import { el } from "./dom";

export interface Row {
  readonly cells: readonly (Node | string)[];
}

/** `texts`: how many columns are text. */
export function table(caption: string, texts: 1 | 2, heads: readonly string[], rows: readonly Row[]): HTMLElement {
  const head = el("tr", {}, ...heads.map((text) => el("th", { scope: "col" }, text)));
  const body = rows.map(({ cells }) => el("tr", {}, ...cells.map((cell) => el("td", {}, cell))));
  return el(
    "section",
    {},
    el("h2", {}, caption),
    el("div", { className: "scroll" }, el("table", { className: `texts-${String(texts)}` }, el("thead", {}, head), el("tbody", {}, ...body))),
  );
}
