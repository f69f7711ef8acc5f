// The frame in focus, and the way to it.
import { smallest } from "../state/figures";
import { focus, graph } from "./flame-state";
import type { FlameNode } from "./hierarchy";
import type { Path } from "./transform";

/** Returns the keys from the drawn root to a frame. */
export function pathTo(root: FlameNode, wanted: FlameNode): Path | undefined {
  if (root === wanted) return [];
  for (const child of root.children) {
    const rest = pathTo(child, wanted);
    if (rest !== undefined) return [child.key, ...rest];
  }
  return undefined;
}

/** Returns the frames from the root along a path. */
export function stackTo(root: FlameNode, path: Path): FlameNode[] {
  const stack = [root];
  for (const key of path) {
    const next = stack.at(-1)?.children.find((child) => child.key === key);
    if (next !== undefined) stack.push(next);
  }
  return stack;
}

/** Draws a frame over the whole width. */
export function setFocus(path: Path): void {
  focus.value = path;
  const root = graph.peek()?.root;
  const node = root === undefined ? undefined : stackTo(root, path).at(-1);
  // A narrower part of the graph has room for smaller frames.
  if (root !== undefined && node !== undefined && root.value > 0) smallest.value = Math.max(1e-7, 0.0005 * (node.value / root.value));
}
