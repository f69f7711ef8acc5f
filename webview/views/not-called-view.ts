// A function that was measured and not called: the answer, and what to do next.
import * as l10n from "@vscode/l10n";
import { formatDuration } from "../../extension/src/base/units";
import type { Report } from "../../extension/src/panel/panel-messages";
import { baseName, el, link } from "../base/dom";
import { post } from "../base/host";
import { sourceLink } from "../base/links";
import { lossView, recordingView } from "./recording-view";

export function notCalledView({ recording, function: shown }: Report): HTMLElement {
  const again = el("button", { type: "button", className: "action" }, l10n.t("Measure Again"));
  again.addEventListener("click", () => {
    post({ type: "measureAgain" });
  });
  return el(
    "header",
    {},
    lossView(recording),
    link(l10n.t("All functions"), l10n.t("Show every function of the recording"), () => {
      post({ type: "overview" });
    }),
    el("h1", { title: shown.binary }, shown.name),
    el("p", { className: "location" }, sourceLink(shown.file, shown.line, baseName(shown.binary))),
    el("p", { className: "caught", role: "status" }, l10n.t("Not called in {0}. Measure again?", formatDuration(recording.trace_ns))),
    el("p", {}, again),
    recordingView(recording),
  );
}
