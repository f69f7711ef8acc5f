// Builds the tree of the flame graph from the columns of ptlens/flame.
import * as l10n from "@vscode/l10n";
import { count } from "../base/format";
import { waitWord, type WaitReason } from "../base/wait-words";
import type { FlameResult, FunctionIdentity } from "../../extension/src/panel/panel-messages";

export interface FlameNode {
  /** Empty for smaller frames, since most of these are not drawn: see shownName(). */
  name: string;
  /** The same for the same function wherever it is. */
  key: string;
  /** frame: a function; off: time in which its caller did not run; smaller: frames too small to draw; lost: time without a trace. */
  kind: "frame" | "off" | "smaller" | "lost";
  /** Of an off-CPU frame, if it is known. */
  reason?: WaitReason;
  /** Inclusive time, ns. */
  value: number;
  /** ns */
  self: number;
  /** Of `value` off-CPU, ns. */
  off: number;
  /** false: not all that it calls was measured. */
  selfKnown: boolean;
  /** How far `value` may be off, ns, either way. */
  uncertainty: number;
  calls: number;
  /** Of smaller frames together, how many they are, if that is known. */
  frames?: number;
  /** Absent at the root. */
  function?: FunctionIdentity;
  children: FlameNode[];
}

export interface Hierarchy {
  root: FlameNode;
  /** Number of nodes omitted because they are deeper than maxDepth. */
  omitted: number;
}

/** What changes the tree is recursive: deeper stacks would overflow its own. */
export const maxDepth = 1000;

export function keyOf({ binary, address, name }: Pick<FunctionIdentity, "binary" | "address" | "name">): string {
  return `${binary} ${address ?? ""} ${name}`;
}

/** Returns one frame for several that are too small to draw. `frames`: how many they are; undefined: unknown. */
export function smallerFrames(frames: number | undefined, figures: Pick<FlameNode, "value" | "off" | "selfKnown" | "uncertainty">): FlameNode {
  return { name: "", key: "smaller", kind: "smaller", ...figures, self: figures.value, calls: 0, ...(frames === undefined ? {} : { frames }), children: [] };
}

export function shownName({ kind, name, frames }: FlameNode): string {
  if (kind !== "smaller") return name;
  return frames === undefined ? l10n.t("… smaller") : l10n.t("… {0} smaller", count(frames));
}

/** Node 0 is the root, and parents come before their children. Throws if the columns break this rule. */
export function hierarchyOf({ functions, nodes }: Pick<FlameResult, "functions" | "nodes">): Hierarchy {
  const { parent, function: called, inclusive, self, calls, smaller, smaller_nodes: smallerNodes } = nodes;
  const size = parent.length;
  if ([called, inclusive, self, calls, smaller ?? calls, smallerNodes ?? calls].some((column) => column.length !== size)) {
    throw new Error("The columns of the flame graph differ in length.");
  }
  const keys = functions.map(keyOf);
  const built: FlameNode[] = [];
  const depths: number[] = [];
  let omitted = 0;
  for (let i = 0; i < size; i += 1) {
    const index = called[i] ?? -1;
    const identity = functions[index];
    const merged = smaller?.[i] ?? 0;
    const node: FlameNode = {
      name: identity?.name ?? l10n.t("all"),
      key: keys[index] ?? "",
      kind: "frame",
      value: inclusive[i] ?? 0,
      self: (self[i] ?? 0) - merged,
      off: 0,
      selfKnown: identity?.self_unknown !== true,
      uncertainty: nodes.uncertainty?.[i] ?? 0,
      calls: calls[i] ?? 0,
      children: [],
    };
    if (identity?.waits_for !== undefined) {
      node.kind = "off";
      node.reason = identity.waits_for;
      node.name = waitWord(identity.waits_for, identity.likely);
      node.calls = 0;
    } else if (identity !== undefined) {
      node.function = identity;
    }
    if (merged > 0) {
      const frames = smallerNodes?.[i] ?? -1;
      node.children.push(smallerFrames(frames < 0 ? undefined : frames, { value: merged, off: 0, selfKnown: true, uncertainty: 0 }));
    }
    built.push(node);
    depths.push(0);
    if (i === 0) continue;
    const parentIndex = parent[i] ?? -1;
    const parentNode = parentIndex < i ? built[parentIndex] : undefined;
    if (parentNode === undefined) throw new Error(`Node ${String(i)} of the flame graph has no parent before it.`);
    const depth = (depths[parentIndex] ?? 0) + 1;
    depths[i] = depth;
    if (depth <= maxDepth) parentNode.children.push(node);
    else omitted += 1;
  }
  const root = built[0];
  if (root === undefined) throw new Error("The flame graph has no root.");
  return { root, omitted };
}
