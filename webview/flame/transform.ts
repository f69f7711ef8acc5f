// Changes of the flame graph's tree: off-CPU parts as frames of their own, callers of a function, merged recursion, hidden
// frames, the frame in focus, and small frames together, and the time that was lost. Each returns a new tree.
import * as l10n from "@vscode/l10n";
import type { Recording } from "../../extension/src/panel/panel-messages";
import { time } from "../base/format";
import { smallerFrames, type FlameNode } from "./hierarchy";

/** The keys from below the root to a frame. */
export type Path = readonly string[];

type Figures = Pick<FlameNode, "value" | "self" | "off" | "calls" | "uncertainty" | "selfKnown">;

const added = (into: Figures, from: FlameNode): void => {
  into.value += from.value;
  into.self += from.self;
  into.off += from.off;
  into.calls += from.calls;
  into.uncertainty += from.uncertainty;
  into.selfKnown = into.selfKnown && from.selfKnown;
};

/** Returns one frame for these: frames too small to draw, and frames that are already several together. */
function together(nodes: readonly FlameNode[]): FlameNode {
  const sum = { value: 0, self: 0, off: 0, calls: 0, uncertainty: 0, selfKnown: true };
  let frames: number | undefined = 0;
  for (const node of nodes) {
    added(sum, node);
    const here: number | undefined = node.kind === "smaller" ? node.frames : 1;
    frames = frames === undefined || here === undefined ? undefined : frames + here;
  }
  return smallerFrames(frames, sum);
}

/** Merges the nodes of equal functions, with all that is below them. */
function merged(nodes: readonly FlameNode[]): FlameNode[] {
  const groups = new Map<string, FlameNode[]>();
  for (const node of nodes) {
    const key = `${node.kind} ${node.key}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [node]);
    else group.push(node);
  }
  return [...groups.values()].map((group) => {
    const [first, ...others] = group;
    if (first === undefined) throw new Error("A group of frames is empty.");
    if (others.length === 0) return first;
    if (first.kind === "smaller") return together(group);
    const sum: FlameNode = { ...first, value: 0, self: 0, off: 0, calls: 0, uncertainty: 0, children: [] };
    for (const node of group) added(sum, node);
    sum.children = merged(group.flatMap(({ children }) => children));
    return sum;
  });
}

/**
 * Adds to each frame of a tree of wall-clock time the off-CPU time of the same frame in `off`, and the part that is not in
 * its callees as a frame of its own.
 */
export function withOffCpu(node: FlameNode, off: FlameNode): FlameNode {
  if (off.value === 0) return node;
  const below = new Map(off.children.map((child) => [child.key, child]));
  const children = node.children.map((child) => {
    const same = below.get(child.key);
    return same === undefined ? child : withOffCpu(child, same);
  });
  const inChildren = children.reduce((sum, child) => sum + child.off, 0);
  let left = Math.max(0, off.value - inChildren);
  // A callee can be large in the tree of off-CPU time, and here one of the smaller ones.
  const smaller = children.findIndex(({ kind }) => kind === "smaller");
  const merged = children[smaller];
  if (merged !== undefined) {
    const drawn = new Set(children.map(({ key }) => key));
    const missing = off.children.reduce((sum, { key, value }) => (drawn.has(key) ? sum : sum + value), 0);
    const part = Math.min(missing, left, merged.value - merged.off);
    children[smaller] = { ...merged, off: merged.off + part };
    left -= part;
  }
  // Waiting happens outside of user code, which has a frame of its own in wall-clock time.
  for (const [index, child] of children.entries()) {
    if (below.has(child.key) || child.children.length > 0 || child.function?.address !== null) continue;
    const part = Math.min(child.value, left);
    children[index] = { ...child, off: part };
    left -= part;
  }
  const own = Math.min(node.self, left);
  if (own > 0 && node.function !== undefined) {
    children.push({ name: l10n.t("off-CPU"), key: "off-CPU", kind: "off", value: own, self: own, off: own, selfKnown: true, uncertainty: 0, calls: 0, children: [] });
  }
  return { ...node, off: Math.min(node.value, off.value), self: own > 0 && node.function !== undefined ? node.self - own : node.self, children };
}

/** Merges a function that calls itself with its caller. */
export function withoutRecursion(node: FlameNode): FlameNode {
  let { self, calls } = node;
  const children: FlameNode[] = [];
  const pending = [...node.children].reverse();
  for (let child = pending.pop(); child !== undefined; child = pending.pop()) {
    if (child.kind === "frame" && child.key === node.key && node.function !== undefined) {
      self += child.self;
      calls += child.calls;
      pending.push(...[...child.children].reverse());
    } else {
      children.push(child);
    }
  }
  return { ...node, self, calls, children: merged(children).map(withoutRecursion) };
}

/**
 * Returns the tree of callers of a function: its root is the function, and below each frame are its callers. A call of the
 * function inside another one is in the outer one's time.
 */
export function callersOf(root: FlameNode, key: string): FlameNode {
  const chains: FlameNode[] = [];
  const stack: FlameNode[] = [];
  const visit = (node: FlameNode): void => {
    if (node.key === key && node.kind === "frame") {
      const part: FlameNode = { ...node, children: [] };
      let below: FlameNode[] = [];
      for (const caller of stack) below = [{ ...caller, value: node.value, self: 0, off: node.off, calls: node.calls, uncertainty: node.uncertainty, children: below }];
      part.children = below;
      chains.push(part);
      return;
    }
    if (node.function !== undefined) stack.push(node);
    node.children.forEach(visit);
    if (node.function !== undefined) stack.pop();
  };
  visit(root);
  const [sum] = merged(chains);
  if (sum === undefined) return { ...root, value: 0, self: 0, off: 0, children: [] };
  // The innermost caller is next to the function.
  return withSelf(sum);
}

/** Recomputes each frame's own time: what its children do not have. */
function withSelf(node: FlameNode): FlameNode {
  const children = node.children.map(withSelf);
  return { ...node, self: Math.max(0, node.value - children.reduce((sum, child) => sum + child.value, 0)), children };
}

/** Removes a frame; its callers lose its time. */
export function without(node: FlameNode, path: Path): FlameNode {
  const [next, ...rest] = path;
  if (next === undefined) return node;
  const child = node.children.find(({ key }) => key === next);
  if (child === undefined) return node;
  const others = node.children.filter((each) => each !== child);
  const changed = rest.length === 0 ? undefined : without(child, rest);
  const [value, off] = [child.value - (changed?.value ?? 0), child.off - (changed?.off ?? 0)];
  return { ...node, value: node.value - value, off: Math.max(0, node.off - off), children: changed === undefined ? others : [...others, changed] };
}

/** Returns the frame at a path, or the last one on the way that exists. */
export function at(root: FlameNode, path: Path): { readonly node: FlameNode; readonly path: Path } {
  let node = root;
  const walked: string[] = [];
  for (const key of path) {
    const next = node.children.find((child) => child.key === key);
    if (next === undefined) break;
    node = next;
    walked.push(key);
  }
  return { node, path: walked };
}

/** Puts frames with less than this time together, one frame for each caller: "… 312 smaller". Returns the same tree where there are none. */
export function withoutSmall(node: FlameNode, least: number): FlameNode {
  if (node.children.length === 0) return node;
  const children: FlameNode[] = [];
  const small: FlameNode[] = [];
  let isSame = true;
  for (const child of node.children) {
    if (child.value < least || child.kind === "smaller") {
      small.push(child);
    } else {
      const kept = withoutSmall(child, least);
      children.push(kept);
      isSame &&= kept === child;
    }
  }
  const isTogether = small.length === 0 || (small.length === 1 && small[0]?.kind === "smaller");
  if (isSame && isTogether) return node;
  if (small.length > 0) children.push(together(small));
  return { ...node, children };
}

/** Adds the time without a trace, of all threads together, as a frame of its own. */
export function withLost(root: FlameNode, threads: Recording["thread_list"]): FlameNode {
  const lost = threads.reduce((sum, { lost_ns: ns }) => sum + ns, 0);
  if (lost === 0) return root;
  const frame: FlameNode = { name: l10n.t("{0} lost", time(lost)), key: "lost", kind: "lost", value: lost, self: lost, off: 0, selfKnown: true, uncertainty: 0, calls: 0, children: [] };
  return { ...root, value: root.value + lost, children: [...root.children, frame] };
}
