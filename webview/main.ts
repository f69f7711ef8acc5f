// The script of the panel: shows what the extension sends.
import * as l10n from "@vscode/l10n";
import type { PanelSection, ToPanel } from "../extension/src/panel/panel-messages";
import { el } from "./base/dom";
import { post, translations } from "./base/host";
import { FlameSection } from "./flame/flame-section";
import { functionHead, functionTables } from "./views/function-view";
import { notCalledView } from "./views/not-called-view";
import { overviewHead, overviewTable } from "./views/overview";
import { partialView } from "./views/partial-view";
import "./style.css";

l10n.config({ contents: translations() });
const view = document.getElementById("view") ?? document.body;
const flame = new FlameSection();
let functionName = "";

function show(message: ToPanel): void {
  switch (message.type) {
    case "overview":
      functionName = "";
      view.replaceChildren(overviewHead(message.functions), flame.element, overviewTable(message.functions));
      return;
    case "function":
      functionName = message.report.function.name;
      if (message.report.not_called === true) {
        view.replaceChildren(notCalledView(message.report));
        return;
      }
      view.replaceChildren(functionHead(message.report, message.slowCall), flame.element, ...functionTables(message.report, message.slowCall));
      return;
    case "partial":
      functionName = message.report.function.name;
      view.replaceChildren(partialView(message.report));
      return;
    case "flame":
      flame.show(message.flame, message.view, functionName);
      return;
    case "goTo":
      goTo(message.section);
      return;
    case "failed":
      if (message.instead === true) view.replaceChildren();
      view.prepend(el("p", { className: "failed", role: "alert" }, message.text));
      return;
  }
}

/** Scrolls to a section and focuses its heading. */
function goTo(section: PanelSection): void {
  const heading = view.querySelector<HTMLElement>(section === "figures" ? "h1" : `[data-section="${section}"] h2`);
  if (heading === null) return;
  heading.tabIndex = -1;
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
}

window.addEventListener("message", (event: MessageEvent<ToPanel>) => {
  show(event.data);
});
post({ type: "ready" });
