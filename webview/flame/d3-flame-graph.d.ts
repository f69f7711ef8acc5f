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
    getName(label: (node: Node<T>) => string): this;
    /** A function with the methods `show` and `hide`. */
    tooltip(tip: () => void): this;
    setColorMapper(color: (node: Node<T>, original: string) => string): this;
    onClick(handler: (node: Node<T>) => void): this;
    destroy(): this;
  }

  export default function flamegraph<T>(): FlameGraphChart<T>;
}
