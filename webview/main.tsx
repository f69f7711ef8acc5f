// The script of the panel: shows what the extension sends.
import * as l10n from "@vscode/l10n";
import "@vscode/codicons/dist/codicon.css";
import "@vscode-elements/elements/dist/vscode-button/index.js";
import { render } from "preact";
import type { PanelSection, ToPanel } from "../extension/src/panel/panel-messages";
import { answered, post, translations } from "./base/host";
import { baseline, edited, failure, partial, select, shown, show, tab, theme } from "./state/store";
import { App } from "./views/app";
import "./style/base.css";
import "./style/header.css";
import "./style/selection.css";
import "./style/tables.css";
import "./style/charts.css";
import "./style/flame.css";
import "./style/why.css";
import "./style/calls.css";
import "./style/timeline.css";
import "./style/change.css";
import "./style/narrow.css";

l10n.config({ contents: translations() });

function receive(message: ToPanel): void {
  switch (message.type) {
    case "overview":
      show({ kind: "functions", functions: message.functions, made: message.made });
      return;
    case "function":
      show({ kind: "function", report: message.report, selector: message.selector, slowCall: message.slowCall, made: message.made });
      baseline.value = message.baseline;
      if (message.slowCall !== undefined) {
        const { tid, latency, threshold, state } = message.slowCall;
        // The upper limit is excluded.
        select({ latency: latency === null ? [threshold, null] : [latency, latency + 1], tids: [tid], ...(state === "complete" ? {} : { states: [state] }) });
      }
      return;
    case "baseline":
      baseline.value = message.baseline;
      return;
    case "edited":
      edited.value = message.edited;
      return;
    case "partial":
      partial.value = message.report;
      return;
    case "answer":
      answered(message);
      return;
    case "goTo":
      goTo(message.section);
      return;
    case "failed":
      if (message.instead === true) shown.value = { kind: "nothing" };
      failure.value = message.text;
      return;
  }
}

/** Opens the tab of a section, scrolls to it and focuses its heading. */
function goTo(section: PanelSection): void {
  tab.value = section === "flame" || section === "why" || section === "calls" || section === "timeline" || section === "change" ? section : "overview";
  requestAnimationFrame(() => {
    const place = section === "figures" ? "h1" : `[data-section="${section}"] h2, [data-section="${section}"]`;
    const heading = document.querySelector<HTMLElement>(place);
    if (heading === null) return;
    heading.tabIndex = -1;
    heading.scrollIntoView();
    heading.focus({ preventScroll: true });
  });
}

// Charts are drawn on a canvas, which does not follow the colors by itself.
new MutationObserver(() => {
  theme.value += 1;
}).observe(document.body, { attributes: true, attributeFilter: ["class", "data-vscode-theme-id"] });

window.addEventListener("message", (event: MessageEvent<ToPanel>) => {
  receive(event.data);
});
render(<App />, document.getElementById("panel") ?? document.body);
post({ type: "ready" });
