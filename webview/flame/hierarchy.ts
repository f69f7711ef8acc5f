// The nested tree that d3 wants, built from the flat columns of ptlens/flame.
import * as l10n from "@vscode/l10n";
import type { FlameResult, FunctionIdentity } from "../../extension/src/panel/panel-messages";

export interface FlameNode {
  name: string;
  /** Inclusive time, ns. */
  value: number;
  /** ns. */
  self: number;
  calls: number;
  /** Absent at the root. */
  function?: FunctionIdentity;
  children: FlameNode[];
  // Set by d3-flame-graph while it is zoomed.
  hide?: boolean;
  fade?: boolean;
}

export interface Hierarchy {
  root: FlameNode;
  /** Nodes left out because they lie deeper than `deepest`. */
  cut: number;
}

/** d3-flame-graph recurses; stacks deeper than this (recursion) would overflow it. */
export const deepest = 1000;

/** Node 0 is the root, parents come before children. Throws on columns that break this. */
export function hierarchyOf({ functions, nodes }: Pick<FlameResult, "functions" | "nodes">): Hierarchy {
  const { parent, function: called, inclusive, self, calls } = nodes;
  const count = parent.length;
  if ([called, inclusive, self, calls].some((column) => column.length !== count)) {
    throw new Error("The columns of the flame graph differ in length.");
  }
  const built: FlameNode[] = [];
  const depths: number[] = [];
  let cut = 0;
  for (let i = 0; i < count; i += 1) {
    const identity = functions[called[i] ?? -1];
    const node: FlameNode = {
      name: identity?.name ?? l10n.t("all"),
      value: inclusive[i] ?? 0,
      self: self[i] ?? 0,
      calls: calls[i] ?? 0,
      children: [],
    };
    if (identity !== undefined) node.function = identity;
    built.push(node);
    depths.push(0);
    if (i === 0) continue;
    const above = parent[i] ?? -1;
    const aboveNode = above < i ? built[above] : undefined;
    if (aboveNode === undefined) throw new Error(`Node ${String(i)} of the flame graph has no parent before it.`);
    const depth = (depths[above] ?? 0) + 1;
    depths[i] = depth;
    if (depth <= deepest) aboveNode.children.push(node);
    else cut += 1;
  }
  const root = built[0];
  if (root === undefined) throw new Error("The flame graph has no root.");
  return { root, cut };
}
