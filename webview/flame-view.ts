// The flame graph's section: what it counts, where it starts, the graph, the figures under the pointer.
import type { FlameResult, FlameScope, FlameView, TimeKind } from "../extension/src/panel-messages";
import { formatCount } from "../extension/src/units";
import { el } from "./dom";
import { FlameGraph } from "./flame-graph";
import { deepest, hierarchyOf } from "./hierarchy";
import { post, reveal } from "./host";

const times: readonly (readonly [TimeKind, string, string])[] = [
  ["wall", "Wall", "Wall-clock time"],
  ["on", "On-CPU", "Time on a CPU"],
  ["off", "Off-CPU", "Time switched out"],
];
const hint = "Click a frame to zoom in and open its source; arrow keys, Enter, Escape.";

export class FlameSection {
  readonly element = el("section", { className: "flame" });
  #graph: FlameGraph | undefined;

  /** `functionName`: the shown function, empty where all are shown. */
  show(result: FlameResult, view: FlameView, functionName: string): void {
    this.#graph?.dispose();
    const graph = el("div", { className: "graph", ariaLabel: "Flame graph" });
    const details = el("p", { className: "details" }, hint);
    this.element.replaceChildren(el("h2", {}, "Flame graph"), this.#toolbar(result, view, functionName), graph, details);
    const { root, cut } = hierarchyOf(result);
    if (root.value === 0 && root.children.length === 0) {
      graph.replaceWith(el("p", { className: "apart" }, "No time of this kind was measured."));
      details.remove();
      return;
    }
    if (cut > 0) {
      const text = `Stacks are cut at ${formatCount(deepest)} frames: ${formatCount(cut)} deeper frames count as their callers' own time.`;
      graph.before(el("p", { className: "apart" }, text));
    }
    this.#graph = new FlameGraph(
      graph,
      root,
      (node) => {
        if (node.function !== undefined) reveal(node.function.file, node.function.line);
      },
      (text) => {
        details.textContent = text ?? hint;
      },
    );
  }

  #toolbar(result: FlameResult, view: FlameView, functionName: string): HTMLElement {
    const time = times
      .filter(([kind]) => kind === "wall" || result.recording.off_cpu_known)
      .map(([kind, label, title]) => choice(label, title, kind === view.time, () => { post({ type: "flame", view: { ...view, time: kind } }); }));
    const scopes: readonly (readonly [FlameScope, string, string])[] =
      functionName === ""
        ? []
        : [
            ["function", "This function", `The calls of ${functionName} and what they call`],
            ["all", "All stacks", "Everything that was measured"],
          ];
    const scope = scopes.map(([kind, label, title]) =>
      choice(label, title, kind === view.scope, () => { post({ type: "flame", view: { ...view, scope: kind } }); }),
    );
    const reset = choice("Reset zoom", "Show every frame again (Escape)", false, () => { this.#graph?.resetZoom(); });
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
