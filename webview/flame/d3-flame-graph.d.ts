// The part of d3-flame-graph's interface that flame-graph.ts uses; the package contains no types.
declare module "d3-flame-graph" {
  import type { HierarchyNode } from "d3-hierarchy";
  import type { Selection } from "d3-selection";

  type Node<T> = HierarchyNode<T> & { x0: number; x1: number };

  interface FlameGraphChart<T> {
    (selection: Selection<HTMLElement, T, null, undefined>): void;
    width(pixels: number): this;
    cellHeight(pixels: number): this;
    minFrameSize(pixels: number): this;
    transitionDuration(milliseconds: number): this;
    inverted(topDown: boolean): this;
    sort(compare: (a: Node<T>, b: Node<T>) => number): this;
    setLabelHandler(label: (node: Node<T>) => string): this;
    setDetailsHandler(show: (text: string | null) => void): this;
    setColorMapper(color: (node: Node<T>, original: string) => string): this;
    onClick(handler: (node: Node<T>) => void): this;
    update(): void;
    resetZoom(): void;
    destroy(): this;
  }

  export default function flamegraph<T>(): FlameGraphChart<T>;
}
