// What the flame graph shows: the answers of the helper, changed as the user asked.
import * as l10n from "@vscode/l10n";
import { computed, signal } from "@preact/signals";
import { count } from "../base/format";
import { answersTo } from "../state/answers";
import { flame, flameParams } from "../state/figures";
import { flameOptions, shown, shownFunction, subject } from "../state/store";
import { hierarchyOf, keyOf, type FlameNode } from "./hierarchy";
import { at, callersOf, without, withLost, withOffCpu, withoutRecursion, withoutSmall, type Path } from "./transform";

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

// These change with the answers, not when something is asked.
const result = computed(() => flame.value.value);
const hierarchy = computed(() => (result.value === undefined ? undefined : hierarchyOf(result.value)));
const offCpuResult = computed(() => offCpu.value.value);
const offCpuHierarchy = computed(() => (offCpuResult.value === undefined ? undefined : hierarchyOf(offCpuResult.value)));

/** The whole graph, without what the user hid. */
export const graph = computed((): { root: FlameNode; omitted: number } | undefined => {
  if (result.value === undefined || hierarchy.value === undefined) return undefined;
  const { time, recording } = result.value;
  const { omitted } = hierarchy.value;
  let { root } = hierarchy.value;
  if (time === "wall" && offCpuHierarchy.value !== undefined) root = withOffCpu(root, offCpuHierarchy.value.root);
  else if (time === "off") root = allOff(root);
  const { value } = shownFunction;
  const { scope, mergeRecursion } = flameOptions.value;
  if (time === "wall" && (value === undefined || scope === "all")) root = withLost(root, recording.thread_list);
  if (value !== undefined && scope === "callers") root = callersOf(root, keyOf(value.report.function));
  if (value !== undefined && scope === "function") root = withoutRoot(root);
  if (mergeRecursion) root = withoutRecursion(root);
  for (const path of hidden.value) root = without(root, path);
  return { root, omitted };
});

/** Calls that the graph contains and that tables of figures do not count, in words. */
export const uncountedText = computed((): string | undefined => {
  const { value } = shown;
  if (value.kind === "nothing") return undefined;
  const counts = value.kind === "function" ? [value.report.calls] : value.functions.functions;
  const sum = (kind: "complete" | "incomplete" | "unwound"): number => counts.reduce((total, calls) => total + calls[kind], 0);
  const [unwound, incomplete] = [sum("unwound"), sum("incomplete")];
  const isOfCompleteCalls = value.kind === "function" && flameOptions.value.scope === "function" && sum("complete") > 0;
  if (isOfCompleteCalls || unwound + incomplete === 0) return undefined;
  const parts = [...(unwound > 0 ? [l10n.t("{0} unwound", count(unwound))] : []), ...(incomplete > 0 ? [l10n.t("{0} incomplete", count(incomplete))] : [])].join(l10n.t(" and "));
  return value.kind === "function"
    ? l10n.t("The graph also contains {0} calls of this function, which the figures and tables do not count.", parts)
    : l10n.t("The graph also contains {0} calls, which the figures and tables do not count.", parts);
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
