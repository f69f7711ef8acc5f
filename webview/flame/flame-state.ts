// What the flame graph shows: the answers of the helper, changed as the user asked.
import * as l10n from "@vscode/l10n";
import { computed, effect, signal } from "@preact/signals";
import type { FlameResult } from "../../extension/src/panel/panel-messages";
import { count } from "../base/format";
import { answersTo } from "../state/answers";
import { flame, flameParams, smallestFrame } from "../state/figures";
import { flameOptions, shown, shownFunction, subject } from "../state/store";
import { hierarchyOf, keyOf, type FlameNode, type Hierarchy } from "./hierarchy";
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

interface Hierarchies {
  readonly result: FlameResult;
  readonly whole: Hierarchy;
  /** Absent until it is answered, and where nothing asks for it. */
  readonly offCpu: Hierarchy | undefined;
}

/** Changes once both questions are answered, so that a zoom is drawn once. The first graph is drawn without waiting for off-CPU time. */
const hierarchies = signal<Hierarchies | undefined>(undefined);
effect(() => {
  const [{ value: result, loading }, { value: off, loading: isOffLoading }] = [flame.value, offCpu.value];
  const before = hierarchies.peek();
  if (result === undefined) hierarchies.value = undefined;
  else if (before === undefined || !(loading || isOffLoading)) {
    const whole = before?.result === result ? before.whole : hierarchyOf(result);
    hierarchies.value = { result, whole, offCpu: off === undefined ? undefined : hierarchyOf(off) };
  }
});

/** The whole graph, without what the user hid. */
export const graph = computed((): { root: FlameNode; omitted: number } | undefined => {
  if (hierarchies.value === undefined) return undefined;
  const { result, whole, offCpu: off } = hierarchies.value;
  const { time, recording } = result;
  const { omitted } = whole;
  let { root } = whole;
  if (time === "wall" && off !== undefined) root = withOffCpu(root, off.root);
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
  if (unwound + incomplete === 1) {
    return value.kind === "function"
      ? l10n.t("The graph also contains {0} call of this function, which the figures and tables do not count.", parts)
      : l10n.t("The graph also contains {0} call, which the figures and tables do not count.", parts);
  }
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

/** The frame in focus with what is below it. */
export const drawnGraph = computed(() => {
  if (graph.value === undefined) return undefined;
  const { node, path } = at(graph.value.root, focus.value);
  return { root: withoutSmall(node, node.value * smallestFrame), path, total: graph.value.root.value };
});
