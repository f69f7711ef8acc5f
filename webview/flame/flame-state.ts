// What the flame graph shows: the answers of the helper, changed as the user asked.
import { computed, signal } from "@preact/signals";
import { answersTo } from "../state/answers";
import { flame, flameParams } from "../state/figures";
import { flameOptions, shownFunction, subject } from "../state/store";
import { hierarchyOf, keyOf, type FlameNode } from "./hierarchy";
import { at, callersOf, without, withOffCpu, withoutRecursion, withoutSmall, type Path } from "./transform";

/** The frame that is drawn over the whole width. */
export const focus = signal<Path>([]);
/** Frames that the user hid. */
export const hidden = signal<readonly Path[]>([]);
export const searchText = signal("");

/** The off-CPU time of the same frames, for a graph of wall-clock time. */
const offCpu = answersTo(
  "ptlens/flame",
  computed(() => {
    const params = flameParams.value;
    return params?.time_kind !== "wall" || flame.value.value?.recording.off_cpu_known !== true ? undefined : { ...params, time_kind: "off" as const };
  }),
  subject,
);

/** The whole graph, without what the user hid. */
export const graph = computed((): { root: FlameNode; omitted: number } | undefined => {
  const result = flame.value.value;
  if (result === undefined) return undefined;
  const { root: drawn, omitted } = hierarchyOf(result);
  const off = offCpu.value.value;
  let root = drawn;
  if (result.time === "wall" && off !== undefined) root = withOffCpu(root, hierarchyOf(off).root);
  else if (result.time === "off") root = allOff(root);
  const { value } = shownFunction;
  const { scope, mergeRecursion } = flameOptions.value;
  if (value !== undefined && scope === "callers") root = callersOf(root, keyOf(value.report.function));
  if (value !== undefined && scope === "function") root = withoutRoot(root);
  if (mergeRecursion) root = withoutRecursion(root);
  for (const path of hidden.value) root = without(root, path);
  return { root, omitted };
});

function allOff(node: FlameNode): FlameNode {
  return { ...node, off: node.value, children: node.children.map(allOff) };
}

/** The graph of one function starts with the function, not with a frame of all stacks. */
function withoutRoot(root: FlameNode): FlameNode {
  const [only, ...others] = root.children;
  return only !== undefined && others.length === 0 && root.self === 0 ? only : root;
}

/** Frames narrower than this share of the one in focus are put together. */
const least = 0.002;

/** The frame in focus with what is below it. */
export const drawnGraph = computed(() => {
  if (graph.value === undefined) return undefined;
  const { node, path } = at(graph.value.root, focus.value);
  return { root: withoutSmall(node, node.value * least), path, total: graph.value.root.value };
});
