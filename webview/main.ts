// The panel's script: draws what the extension sends. The style comes after the flame graph's own.
import * as l10n from "@vscode/l10n";
import type { PanelView, ToPanel } from "../extension/src/panel/panel-messages";
import { el } from "./base/dom";
import { FlameSection } from "./flame/flame-section";
import { functionHead, functionTables } from "./views/function-view";
import { overviewHead, overviewTable } from "./views/overview";
import { partialView } from "./views/partial-view";
import { post, translations } from "./base/host";
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
      view.replaceChildren(functionHead(message.report, message.caught), flame.element, ...functionTables(message.report, message.caught));
      return;
    case "partial":
      functionName = message.report.function.name;
      view.replaceChildren(partialView(message.report));
      return;
    case "flame":
      flame.show(message.flame, message.view, functionName);
      return;
    case "goTo":
      goTo(message.view);
      return;
    case "failed":
      view.prepend(el("p", { className: "failed", role: "alert" }, message.text));
      return;
  }
}

/** Brings a part of the page into sight, and the keyboard to it. */
function goTo(part: PanelView): void {
  const found = view.querySelector<HTMLElement>(part === "figures" ? "h1" : `[data-view="${part}"] h2`);
  if (found === null) return;
  found.tabIndex = -1;
  found.scrollIntoView();
  found.focus({ preventScroll: true });
}

window.addEventListener("message", (event: MessageEvent<ToPanel>) => {
  show(event.data);
});
post({ type: "ready" });
