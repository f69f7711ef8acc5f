// The drawing of the flame graph by d3-flame-graph, with the root at the top. The panel adds what the library has not:
// patterns for waiting, outlines of search hits, a frame for the keyboard, and roles for screen readers.
import flamegraph, { type FlameGraphChart, type Node } from "d3-flame-graph";
import { select } from "d3-selection";
import { share, time } from "../base/format";
import { shortName } from "../base/names";
import type { FlameNode } from "./hierarchy";

type Frame = Node<FlameNode>;

const cellHeight = 24;
/** Width of a letter and of what surrounds a text, pixels. */
const [letter, around] = [7.3, 12];
/** A text needs room for so many letters. */
const leastLetters = 5;
/** Pixels */
const smallestFrame = 0.5;

export interface Handlers {
  readonly onOpen: (node: FlameNode) => void;
  readonly onHover: (node: FlameNode | undefined, event: MouseEvent | undefined) => void;
}

/** Shows the card of a frame; d3-flame-graph calls it as its tooltip. */
function tooltipOf(onHover: Handlers["onHover"]): () => void {
  const nothing = (): void => undefined;
  return Object.assign(nothing, {
    show: (event: MouseEvent, frame: Frame) => {
      onHover(frame.data, event);
    },
    hide: () => {
      onHover(undefined, undefined);
    },
  });
}

export class FlameGraph {
  readonly #chart: FlameGraphChart<FlameNode>;
  #hits = new Set<FlameNode>();
  #current: FlameNode | undefined;

  constructor(
    private readonly container: HTMLElement,
    private readonly root: FlameNode,
    private readonly width: number,
    { onOpen, onHover }: Handlers,
  ) {
    this.#chart = flamegraph<FlameNode>()
      .width(width)
      .cellHeight(cellHeight)
      .minFrameSize(smallestFrame)
      .transitionDuration(0)
      .inverted(true)
      .sort((a, b) => b.data.value - a.data.value)
      .getName((frame) => this.#label(frame))
      .tooltip(tooltipOf(onHover))
      .setColorMapper((frame) => fillOf(frame.data))
      .onClick((frame) => {
        onOpen(frame.data);
      });
    select(container).datum(root).call(this.#chart);
    this.#decorate();
  }

  /** Marks the frames that a search found. */
  mark(hits: readonly FlameNode[]): void {
    this.#hits = new Set(hits);
    this.#decorate();
  }

  get current(): FlameNode | undefined {
    return this.#current;
  }

  /** Gives a frame the keyboard. */
  moveTo(node: FlameNode | undefined): void {
    this.#current = node;
    this.#decorate();
    this.#frames().filter((frame) => frame.data === node).nodes()[0]?.scrollIntoView({ block: "nearest" });
  }

  /** Returns the frame that an arrow key leads to. */
  neighbour(key: string): FlameNode | undefined {
    const drawn = this.#frames().data();
    const current = drawn.find(({ data }) => data === this.#current);
    if (current === undefined) return this.root;
    if (key === "ArrowUp") return current.parent?.data;
    if (key === "ArrowDown") return current.children?.find((child) => drawn.includes(child))?.data;
    const row = drawn.filter(({ depth }) => depth === current.depth).sort((a, b) => a.x0 - b.x0);
    return row[row.indexOf(current) + (key === "ArrowLeft" ? -1 : 1)]?.data;
  }

  dispose(): void {
    this.#chart.destroy();
    this.container.replaceChildren();
  }

  #frames(): ReturnType<typeof framesIn> {
    return framesIn(this.container);
  }

  /** The name, and the share where it fits as a whole. */
  #label({ data, x0, x1 }: Frame): string {
    const name = data.kind === "frame" ? shortName(data.name) : data.name;
    const letters = ((x1 - x0) * this.width - around) / letter;
    const part = share(data.value / Math.max(1, this.root.value));
    return name.length + part.length + 1 <= letters ? `${name} ${part}` : name;
  }

  #decorate(): void {
    const { width } = this;
    this.#frames().each((frame, index, nodes) => {
      const element = nodes[index];
      if (element === undefined) return;
      const { data } = frame;
      element.setAttribute("role", "treeitem");
      element.setAttribute("aria-level", String(frame.depth + 1));
      element.setAttribute("aria-label", `${this.#label(frame)}, ${time(data.value)}, ${share(data.value / Math.max(1, this.root.value))}`);
      element.classList.toggle("root", frame.depth === 0);
      element.classList.toggle("blk", isWaiting(data) && data.reason !== "preempted");
      element.classList.toggle("pre", data.reason === "preempted");
      element.classList.toggle("lost", data.kind === "lost");
      element.classList.toggle("smaller", data.kind === "smaller");
      element.classList.toggle("thin", (frame.x1 - frame.x0) * width < leastLetters * letter + around);
      element.classList.toggle("hit", this.#hits.has(data));
      element.classList.toggle("cur", data === this.#current);
    });
  }
}

function framesIn(container: HTMLElement) {
  return select(container).selectAll<SVGGElement, Frame>("g.frame");
}

/** Whether a frame waits for more than half of its time. */
export function isWaiting({ off, value, kind }: FlameNode): boolean {
  return kind === "off" || (value > 0 && off > value / 2);
}

function fillOf(node: FlameNode): string {
  if (node.kind === "smaller") return "var(--neutral)";
  if (node.kind === "lost") return "url(#lost)";
  if (node.reason === "preempted") return "url(#soft-preempted)";
  return isWaiting(node) ? "url(#soft-blocked)" : "var(--on-soft)";
}

/** Returns the node of the frame that contains an element of the graph. */
export function frameOf(target: EventTarget | null): FlameNode | undefined {
  const frame = target instanceof Element ? target.closest<SVGGElement>("g.frame") : null;
  return frame === null ? undefined : select<SVGGElement, Frame>(frame).datum().data;
}
