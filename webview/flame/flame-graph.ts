// Draws the flame graph on a canvas, with the root at the top, as far as it is in sight. Elements for each frame, as
// d3-flame-graph makes them, take a third of a second for a graph that fills the window; this takes a few milliseconds.
// Beside the canvas is one element for screen readers: the frame that has the keyboard.
import { share, time } from "../base/format";
import { shortName } from "../base/names";
import { frameFill, readPalette, type Fill, type Palette } from "../overview/colors";
import { shownName, type FlameNode } from "./hierarchy";
import { layOut, type Frame } from "./layout";

const rowHeight = 24;
/** Left and right of a text, pixels. */
const margin = 6;
/** A text needs room for so many letters. */
const leastLetters = 5;

export interface Handlers {
  readonly onOpen: (node: FlameNode) => void;
  readonly onHover: (node: FlameNode | undefined) => void;
  /** Another frame has the keyboard, or none. */
  readonly onMove: (node: FlameNode | undefined) => void;
}

/** What is at a place of the canvas, for programs that look at the page from outside; pixels of the canvas. */
interface DrawnFrame {
  readonly name: string;
  readonly root: boolean;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export class FlameGraph {
  readonly #canvas = document.createElement("canvas");
  readonly #whole = document.createElement("div");
  readonly #outline = document.createElement("div");
  readonly #reader = document.createElement("div");
  readonly #context: CanvasRenderingContext2D | null;
  readonly #palette: Palette = readPalette();
  readonly #fills = new Map<string, Fill>();
  readonly #font: string;
  readonly #letter: number;
  readonly #isHighContrast = document.body.classList.contains("vscode-high-contrast");
  readonly #ends = new AbortController();
  readonly #size: ResizeObserver;
  #rows: readonly Frame[][] = [];
  #frames: ReadonlyMap<FlameNode, Frame> | undefined;
  /** Pixels. The container keeps the height of the tallest graph, so that what is below it stays where it is. */
  #tallest = 0;
  #hits: ReadonlySet<FlameNode> = new Set();
  #current: FlameNode | undefined;
  #hovered: Frame | undefined;
  #willDraw = false;

  /** Draws into the container, which it empties when it ends. The colors are those of the present theme. */
  constructor(
    private readonly container: HTMLElement,
    private root: FlameNode,
    private readonly width: number,
    private readonly handlers: Handlers,
  ) {
    this.#font = `12px ${getComputedStyle(container).fontFamily}`;
    this.#context = this.#canvas.getContext("2d", { alpha: false });
    if (this.#context !== null) this.#context.font = this.#font;
    this.#letter = this.#context?.measureText("m").width ?? 1;
    this.#canvas.style.width = `${String(width)}px`;
    this.#reader.className = "reader";
    this.#reader.id = "flame-frame";
    this.#reader.setAttribute("role", "treeitem");
    this.#outline.className = "current";
    this.#whole.append(this.#canvas, this.#outline);
    Object.defineProperty(this.#canvas, "frames", { get: () => this.#drawnFrames() });
    container.replaceChildren(this.#whole, this.#reader);
    container.setAttribute("aria-activedescendant", this.#reader.id);
    const { signal } = this.#ends;
    container.addEventListener("scroll", () => { this.#drawSoon(); }, { signal });
    this.#canvas.addEventListener("click", (event) => {
      const node = this.nodeAt(event);
      if (node !== undefined) this.handlers.onOpen(node);
    }, { signal });
    this.#canvas.addEventListener("mousemove", (event) => { this.#hover(this.#frameAt(event)); }, { signal });
    this.#canvas.addEventListener("mouseleave", () => { this.#hover(undefined); }, { signal });
    this.#size = new ResizeObserver(() => { this.#drawSoon(); });
    this.#size.observe(container);
    this.show(root);
  }

  /** Draws another graph in its place. No frame of it has the keyboard. */
  show(root: FlameNode): void {
    this.root = root;
    this.#rows = layOut(root, this.width);
    this.#frames = undefined;
    this.#hits = new Set();
    this.#setCurrent(undefined);
    this.#hover(undefined);
    const height = this.#rows.length * rowHeight;
    this.#whole.style.height = `${String(height)}px`;
    this.#tallest = Math.max(this.#tallest, height);
    this.container.style.minHeight = `min(60vh, ${String(this.#tallest)}px)`;
    this.container.dataset.frames = String(this.#rows.reduce((sum, { length }) => sum + length, 0));
    this.#drawSoon();
  }

  /** Marks the frames that a search found. */
  mark(hits: readonly FlameNode[]): void {
    if (hits.length === 0 && this.#hits.size === 0) return;
    this.#hits = new Set(hits);
    this.#drawSoon();
  }

  /** Gives a frame the keyboard. */
  moveTo(node: FlameNode | undefined): void {
    this.#setCurrent(node);
    const frame = this.#frameOf(node);
    if (frame !== undefined) {
      const top = frame.depth * rowHeight;
      const { scrollTop, clientHeight } = this.container;
      this.container.scrollTop = Math.min(top, Math.max(scrollTop, top + rowHeight - clientHeight));
    }
  }

  /** Returns the frame that an arrow key leads to. */
  neighbour(key: string): FlameNode | undefined {
    const current = this.#frameOf(this.#current);
    if (current === undefined) return this.root;
    if (key === "ArrowUp") return current.parent?.node;
    const isBelow = key === "ArrowDown";
    const row = this.#rows[current.depth + (isBelow ? 1 : 0)] ?? [];
    if (isBelow) return row.find(({ parent }) => parent === current)?.node;
    return row[row.indexOf(current) + (key === "ArrowLeft" ? -1 : 1)]?.node;
  }

  /** Returns what is drawn under the pointer. */
  nodeAt(event: MouseEvent): FlameNode | undefined {
    return this.#frameAt(event)?.node;
  }

  dispose(): void {
    this.#ends.abort();
    this.#size.disconnect();
    this.container.replaceChildren();
  }

  #setCurrent(node: FlameNode | undefined): void {
    const hasChanged = node !== this.#current;
    this.#current = node;
    this.#showCurrent();
    if (hasChanged) this.handlers.onMove(node);
  }

  #hover(frame: Frame | undefined): void {
    if (frame === this.#hovered) return;
    this.#hovered = frame;
    this.#canvas.style.cursor = frame === undefined ? "" : "pointer";
    this.handlers.onHover(frame?.node);
    this.#drawSoon();
  }

  #frameOf(node: FlameNode | undefined): Frame | undefined {
    if (node === undefined) return undefined;
    if (node === this.root) return this.#rows[0]?.[0];
    this.#frames ??= new Map(this.#rows.flat().map((frame) => [frame.node, frame]));
    return this.#frames.get(node);
  }

  #frameAt({ clientX, clientY }: MouseEvent): Frame | undefined {
    const { left, top } = this.#canvas.getBoundingClientRect();
    const x = clientX - left;
    const row = this.#rows[Math.floor((clientY - top + this.container.scrollTop) / rowHeight)];
    return row?.find((frame) => frame.left <= x && x < frame.right);
  }

  #share({ value }: FlameNode): string {
    return share(value / Math.max(1, this.root.value));
  }

  /** The name, and the share where it fits as a whole; nothing where there is no room. */
  #label({ node, left, right }: Frame): string {
    const room = Math.floor((right - left - 2 * margin) / this.#letter);
    if (room < leastLetters) return "";
    const name = labelOf(node);
    const whole = `${name} ${this.#share(node)}`;
    if (whole.length <= room) return whole;
    return name.length <= room ? name : `${name.slice(0, room - 1)}…`;
  }

  /** Outlines the frame that has the keyboard, by an element so that the canvas stays as it is, and says which frame it is. */
  #showCurrent(): void {
    const frame = this.#frameOf(this.#current);
    this.#outline.hidden = frame === undefined;
    if (frame !== undefined) {
      const { style } = this.#outline;
      style.transform = `translate(${String(frame.left)}px, ${String(frame.depth * rowHeight)}px)`;
      style.width = `${String(frame.right - frame.left)}px`;
      style.height = `${String(rowHeight)}px`;
    }
    const node = this.#current ?? this.root;
    const name = labelOf(node);
    this.#reader.setAttribute("aria-level", String((this.#frameOf(node)?.depth ?? 0) + 1));
    this.#reader.setAttribute("aria-label", `${name}, ${time(node.value)}, ${this.#share(node)}`);
  }

  /** Draws once before the browser shows the page again, however much has changed. */
  #drawSoon(): void {
    if (this.#willDraw) return;
    this.#willDraw = true;
    requestAnimationFrame(() => {
      this.#willDraw = false;
      if (!this.#ends.signal.aborted) this.#draw();
    });
  }

  #draw(): void {
    const context = this.#context;
    if (context === null) return;
    const { scrollTop, clientHeight } = this.container;
    const height = Math.min(this.#rows.length * rowHeight, Math.max(rowHeight, clientHeight));
    const scale = window.devicePixelRatio;
    const [wide, high] = [Math.round(this.width * scale), Math.round(height * scale)];
    // Another size makes the browser allocate the canvas again.
    if (this.#canvas.width !== wide || this.#canvas.height !== high) {
      this.#canvas.width = wide;
      this.#canvas.height = high;
      this.#canvas.style.height = `${String(height)}px`;
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = this.#palette.bg;
    context.fillRect(0, 0, this.width, height);
    context.font = this.#font;
    context.textBaseline = "middle";
    const drawn = this.#framesInSight();
    for (const frame of drawn) this.#drawFrame(context, frame, frame.depth * rowHeight - scrollTop);
    if (this.#hits.size === 0) return;
    for (const frame of drawn) {
      if (this.#hits.has(frame.node)) this.#outlineHit(context, frame, frame.depth * rowHeight - scrollTop);
    }
  }

  #framesInSight(): Frame[] {
    const { scrollTop, clientHeight } = this.container;
    const [first, end] = [Math.floor(scrollTop / rowHeight), Math.ceil((scrollTop + Math.max(rowHeight, clientHeight)) / rowHeight)];
    return this.#rows.slice(first, end).flat();
  }

  #drawnFrames(): DrawnFrame[] {
    return this.#framesInSight().map(({ node, depth, left, right }) => {
      const top = depth * rowHeight - this.container.scrollTop;
      return { name: shownName(node), root: depth === 0, left, right, top, bottom: top + rowHeight };
    });
  }

  #drawFrame(context: CanvasRenderingContext2D, frame: Frame, top: number): void {
    const { node, left, right } = frame;
    const state = stateOf(node);
    let fill = this.#fills.get(state);
    if (fill === undefined) {
      fill = frameFill(context, this.#palette, state);
      this.#fills.set(state, fill);
    }
    // Between frames, the background shows.
    const [x, y, width, height] = [left + 0.5, top + 0.5, Math.max(0.5, right - left - 1), rowHeight - 1];
    context.fillStyle = fill;
    context.fillRect(x, y, width, height);
    if (frame === this.#hovered) {
      context.globalAlpha = 0.12;
      context.fillStyle = this.#palette.fg;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
    }
    if (this.#isHighContrast) {
      context.lineWidth = 1;
      context.strokeStyle = state === "smaller" || state === "lost" ? this.#palette.dim : this.#palette[state];
      context.strokeRect(x + 0.5, y + 0.5, Math.max(0, width - 1), height - 1);
    }
    const label = this.#label(frame);
    if (label === "") return;
    if (state === "lost" || (this.#isHighContrast && state !== "on")) {
      context.fillStyle = this.#palette.bg;
      context.fillRect(left + 2, top + 3, label.length * this.#letter + 8, rowHeight - 6);
    }
    context.fillStyle = this.#palette.fg;
    context.fillText(label, left + margin, top + rowHeight / 2 + 0.5);
  }

  #outlineHit(context: CanvasRenderingContext2D, { left, right }: Frame, top: number): void {
    const thick = 2.5;
    context.lineWidth = thick;
    context.strokeStyle = this.#palette.fg;
    context.strokeRect(left + thick / 2, top + thick / 2, Math.max(0, right - left - thick), rowHeight - thick);
  }
}

function labelOf(node: FlameNode): string {
  return node.kind === "frame" ? shortName(node.name) : shownName(node);
}

/** Whether a frame waits for more than half of its time. */
function isWaiting({ off, value, kind }: FlameNode): boolean {
  return kind === "off" || (value > 0 && off > value / 2);
}

function stateOf(node: FlameNode): "on" | "blk" | "pre" | "lost" | "smaller" {
  if (node.kind === "smaller" || node.kind === "lost") return node.kind;
  if (node.reason === "preempted") return "pre";
  return isWaiting(node) ? "blk" : "on";
}
