// The frame in focus, and the way to it.
import { selectorOf } from "../../extension/src/functions/function-selector";
import { flameDetail } from "../state/figures";
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
  if (root === undefined || root.value <= 0) return;
  const stack = stackTo(root, path);
  const part = (stack.at(-1)?.value ?? root.value) / root.value;
  flameDetail.value = { part, focus: stack.flatMap(({ function: called }) => (called === undefined ? [] : [selectorOf(called)])) };
}
