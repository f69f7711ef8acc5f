// The panel's script: draws what the extension sends. The style comes after the flame graph's own.
import type { ToPanel } from "../extension/src/panel-messages";
import { el } from "./dom";
import { FlameSection } from "./flame-view";
import { functionHead, functionTables } from "./function-view";
import { post } from "./host";
import { overviewHead, overviewTable } from "./overview";
import "./style.css";

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
      view.replaceChildren(functionHead(message.report), flame.element, ...functionTables(message.report));
      return;
    case "flame":
      flame.show(message.flame, message.view, functionName);
      return;
    case "failed":
      view.prepend(el("p", { className: "failed", role: "alert" }, message.text));
      return;
  }
}

window.addEventListener("message", (event: MessageEvent<ToPanel>) => {
  show(event.data);
});
post({ type: "ready" });
