// Places the frames of a flame graph: an icicle layout, as d3-hierarchy's partition makes it, without frames that are too
// narrow to see.
import type { FlameNode } from "./hierarchy";

/** `left` and `right` are pixels. */
export interface Frame {
  readonly node: FlameNode;
  readonly parent: Frame | undefined;
  readonly depth: number;
  readonly left: number;
  readonly right: number;
}

/** Pixels */
const smallestFrame = 0.5;

const byValue = (one: FlameNode, other: FlameNode): number => other.value - one.value;

/** Places the frames in rows: callees below their caller, from the widest to the narrowest. */
export function layOut(root: FlameNode, width: number): Frame[][] {
  const rows: Frame[][] = [];
  let row: Frame[] = [{ node: root, parent: undefined, depth: 0, left: 0, right: width }];
  const pixels = width / Math.max(1, root.value);
  while (row.length > 0) {
    rows.push(row);
    const next: Frame[] = [];
    for (const parent of row) {
      let { left } = parent;
      const { children } = parent.node;
      for (const node of children.length > 1 ? [...children].sort(byValue) : children) {
        const right = left + node.value * pixels;
        if (right - left < smallestFrame) break; // the others are narrower
        next.push({ node, parent, depth: rows.length, left, right });
        left = right;
      }
    }
    row = next;
  }
  return rows;
}
