// The section of the flame graph: the toolbar, the graph, and the figures of the frame under the pointer.
import * as l10n from "@vscode/l10n";
import { formatCount } from "../../extension/src/base/units";
import type { FlameResult, FlameScope, FlameView, TimeKind } from "../../extension/src/panel/panel-messages";
import { asSection, el } from "../base/dom";
import { post, reveal } from "../base/host";
import { deeperButton, menuContext } from "../base/links";
import { FlameGraph, frameOf } from "./flame-graph";
import { hierarchyOf, maxDepth } from "./hierarchy";

const times = (): readonly (readonly [TimeKind, string, string])[] => [
  ["wall", l10n.t("Wall"), l10n.t("Wall-clock time")],
  ["on", l10n.t("On-CPU"), l10n.t("Time on a CPU")],
  ["off", l10n.t("Off-CPU"), l10n.t("Time during which the thread did not run")],
];
const hint = (): string => l10n.t("Click a frame to zoom in and open its source. Arrow keys move, Enter zooms, Escape resets.");

export class FlameSection {
  readonly element = asSection("flame", el("section", { className: "flame" }));
  #graph: FlameGraph | undefined;

  /** `functionName`: the shown function; empty if all functions are shown. */
  show(result: FlameResult, view: FlameView, functionName: string): void {
    this.#graph?.dispose();
    const graph = el("div", { className: "graph", ariaLabel: l10n.t("Flame graph") });
    const details = el("p", { className: "details" }, hint());
    const deeper = el("span", { className: "deeper" });
    this.element.replaceChildren(el("h2", {}, l10n.t("Flame graph")), this.#toolbar(result, view, functionName), graph, details, deeper);
    const { root, omitted } = hierarchyOf(result);
    if (root.value === 0 && root.children.length === 0) {
      graph.replaceWith(el("p", { className: "apart" }, l10n.t("The recording contains no time of this kind.")));
      details.remove();
      return;
    }
    if (omitted > 0) {
      const text = l10n.t("The graph shows {0} frames of a stack. It omits {1} deeper frames and adds their time to the self time of their callers.", formatCount(maxDepth), formatCount(omitted));
      graph.before(el("p", { className: "apart" }, text));
    }
    this.#graph = new FlameGraph(
      graph,
      root,
      (node) => {
        if (node.function === undefined) return;
        reveal(node.function.file, node.function.line);
        const probes = result.recording.backend === "uprobe" && node.function.address !== null;
        deeper.replaceChildren(...(probes ? [deeperButton(node.function)] : []));
      },
      (text) => {
        details.textContent = text ?? hint();
      },
    );
    // VS Code reads the context when the event reaches the document.
    graph.addEventListener("contextmenu", (event) => {
      const node = frameOf(event.target);
      if (node?.function !== undefined && result.recording.backend === "uprobe") graph.dataset.vscodeContext = menuContext(node.function);
      else delete graph.dataset.vscodeContext;
    });
  }

  #toolbar(result: FlameResult, view: FlameView, functionName: string): HTMLElement {
    const time = times()
      .filter(([kind]) => kind === "wall" || result.recording.off_cpu_known)
      .map(([kind, label, title]) => choice(label, title, kind === view.time, () => { post({ type: "flame", view: { ...view, time: kind } }); }));
    const scopes: readonly (readonly [FlameScope, string, string])[] =
      functionName === ""
        ? []
        : [
            ["function", l10n.t("This function"), l10n.t("The calls of {0} and their callees", functionName)],
            ["all", l10n.t("All stacks"), l10n.t("All recorded stacks")],
          ];
    const scope = scopes.map(([kind, label, title]) =>
      choice(label, title, kind === view.scope, () => { post({ type: "flame", view: { ...view, scope: kind } }); }),
    );
    const reset = choice(l10n.t("Reset zoom"), l10n.t("Show all frames (Escape)"), false, () => { this.#graph?.resetZoom(); });
    return el(
      "div",
      { className: "toolbar" },
      el("span", { className: "group" }, ...time),
      scope.length === 0 ? undefined : el("span", { className: "group" }, ...scope),
      el("span", { className: "group" }, reset),
    );
  }
}

function choice(label: string, title: string, pressed: boolean, onClick: () => void): HTMLButtonElement {
  return el("button", { type: "button", title, ariaPressed: String(pressed), onclick: onClick }, label);
}
