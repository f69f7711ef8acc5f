// The flame graph, drawn by d3-flame-graph with the root at the top. A click or Enter zooms and selects, the arrow keys
// move the focus, and Escape resets the zoom.
import * as l10n from "@vscode/l10n";
import flamegraph, { type FlameGraphChart, type Node } from "d3-flame-graph";
import { select } from "d3-selection";
import { formatCalls, formatDuration, formatFigure, formatPercent, percentOf } from "../../extension/src/base/units";
import { frameColors } from "./colors";
import type { FlameNode } from "./hierarchy";

type Frame = Node<FlameNode>;

const cellHeight = 20;
/** Pixels */
const smallestFrame = 0.5;

export class FlameGraph {
  readonly #resize: ResizeObserver;
  readonly #chart: FlameGraphChart<FlameNode>;
  #width: number;
  #focused: Frame | undefined;

  /**
   * `onSelect` receives each frame that the user clicks. `onDetails` receives the figures of the frame under the
   * pointer, or undefined.
   */
  constructor(
    private readonly container: HTMLElement,
    private readonly root: FlameNode,
    onSelect: (node: FlameNode) => void,
    private readonly onDetails: (text: string | undefined) => void,
  ) {
    const reducedMotion = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const color = frameColors(root);
    this.#width = container.clientWidth;
    this.#chart = flamegraph<FlameNode>()
      .width(this.#width)
      .cellHeight(cellHeight)
      .minFrameSize(smallestFrame)
      .transitionDuration(reducedMotion ? 0 : 200)
      .inverted(true)
      .sort((a, b) => b.data.value - a.data.value)
      .setLabelHandler((frame) => details(frame.data, root.value))
      .setDetailsHandler((text) => {
        onDetails(text ?? undefined);
      })
      .setColorMapper((frame) => color(frame.data))
      .onClick((frame) => {
        this.#focus(frame);
        onSelect(frame.data);
      });
    select(container).datum(root).call(this.#chart);
    container.tabIndex = 0;
    container.addEventListener("keydown", this.#onKey);
    this.#resize = new ResizeObserver(() => {
      const width = container.clientWidth;
      if (width === 0 || width === this.#width) return;
      this.#width = width;
      this.#chart.width(width).update();
    });
    this.#resize.observe(container);
  }

  resetZoom(): void {
    this.#chart.resetZoom();
  }

  dispose(): void {
    this.#resize.disconnect();
    this.container.removeEventListener("keydown", this.#onKey);
    this.#chart.destroy();
    this.container.replaceChildren();
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      this.resetZoom();
    } else if (event.key === "Enter" || event.key === " ") {
      this.#element(this.#focused)?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    } else {
      const next = this.#neighbour(event.key);
      if (next === undefined) return;
      this.#focus(next);
    }
    event.preventDefault();
  };

  #neighbour(key: string): Frame | undefined {
    const current = this.#focused;
    if (current === undefined) {
      return key.startsWith("Arrow") ? select<HTMLElement, Frame>(this.container).datum() : undefined;
    }
    const visible = (frame: Frame): boolean => this.#element(frame) !== undefined;
    if (key === "ArrowUp") return current.parent ?? undefined;
    if (key === "ArrowDown") return current.children?.find(visible);
    const siblings = (current.parent?.children ?? []).filter(visible);
    const index = siblings.indexOf(current);
    if (key === "ArrowLeft") return siblings[index - 1];
    return key === "ArrowRight" ? siblings[index + 1] : undefined;
  }

  #focus(frame: Frame): void {
    this.#element(this.#focused)?.classList.remove("focused");
    this.#focused = frame;
    const element = this.#element(frame);
    element?.classList.add("focused");
    element?.scrollIntoView({ block: "nearest" });
    this.onDetails(details(frame.data, this.root.value));
  }

  #element(frame: Frame | undefined): SVGGElement | undefined {
    if (frame === undefined) return undefined;
    return select(this.container)
      .selectAll<SVGGElement, Frame>("g.frame")
      .filter((candidate) => candidate === frame)
      .nodes()[0];
  }
}

/** Returns the node of the frame that contains an element of the graph. */
export function frameOf(target: EventTarget | null): FlameNode | undefined {
  const frame = target instanceof Element ? target.closest<SVGGElement>("g.frame") : null;
  return frame === null ? undefined : select<SVGGElement, Frame>(frame).datum().data;
}

/** "price_order: 12.3 ms, 45 % of all, 1,000 calls, self 1.20 ms". */
function details(node: FlameNode, total: number): string {
  const share = l10n.t("{0} of all", formatPercent(percentOf(node.value, total)));
  const self = node.selfKnown ? l10n.t("self {0}", formatDuration(node.self)) : l10n.t("self unknown");
  return `${node.name}: ${formatFigure(node.value, node.uncertainty)}, ${share}, ${formatCalls(node.calls)}, ${self}`;
}
