// One call as a tree: the calls in it, and its waits and lost time as leaves of the calls in which they are.
import type { TimelineResult } from "../../extension/src/panel/panel-messages";

export type CallTimeline = TimelineResult["timeline"];
export type NestedCall = CallTimeline["calls"][number];
export type Wait = CallTimeline["waits"][number];

export interface Part {
  readonly kind: "call" | "wait" | "lost";
  /** The same for the same call site, or for the same reason. */
  readonly key: string;
  /** ns after the start of the outermost call, with the time of probes. */
  readonly from: number;
  readonly to: number;
  readonly latency: number;
  readonly resolution: number;
  readonly call: NestedCall | undefined;
  readonly wait: Wait | undefined;
  readonly children: Part[];
}

function partOfCall(call: NestedCall): Part {
  const { start, wall, latency, resolution, function: name, file, line } = call;
  return { kind: "call", key: `${name ?? ""} ${file}:${String(line)}`, from: start, to: start + wall, latency, resolution, call, wait: undefined, children: [] };
}

function partOfWait(wait: Wait): Part {
  const { start, duration, reason } = wait;
  return { kind: "wait", key: `wait ${reason}`, from: start, to: start + duration, latency: duration, resolution: 0, call: undefined, wait, children: [] };
}

function partOfLost({ start, duration }: CallTimeline["lost"][number]): Part {
  return { kind: "lost", key: "lost", from: start, to: start + duration, latency: duration, resolution: 0, call: undefined, wait: undefined, children: [] };
}

/** Returns the innermost call that is open at a time. */
function innermost(root: Part, at: number): Part {
  let part = root;
  for (;;) {
    const next = part.children.findLast(({ kind, from, to }) => kind === "call" && from <= at && at < to);
    if (next === undefined) return part;
    part = next;
  }
}

/** Callers come before the calls that they made. Returns undefined for a list without an outermost call. */
export function treeOf({ calls, waits, lost }: Pick<CallTimeline, "calls" | "waits" | "lost">): Part | undefined {
  const open: Part[] = [];
  for (const call of calls) {
    const part = partOfCall(call);
    open[call.depth - 1]?.children.push(part);
    open[call.depth] = part;
  }
  const [root] = open;
  if (root === undefined) return undefined;
  for (const leaf of [...waits.map(partOfWait), ...lost.map(partOfLost)]) innermost(root, leaf.from).children.push(leaf);
  order(root);
  return root;
}

function order(part: Part): void {
  part.children.sort((one, other) => one.from - other.from);
  part.children.forEach(order);
}
