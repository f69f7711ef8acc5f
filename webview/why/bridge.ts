// The arithmetic of the bridge from a typical to a slow call: typical + causes = slow. And the axis, which leaves out the
// middle of one cause that is much larger than all others.
import * as l10n from "@vscode/l10n";
import type { ExplainResult } from "../../extension/src/panel/panel-messages";
import { shortName } from "../base/names";

export type Explanation = ExplainResult["explain"];
export type Component = Explanation["components"][number];
export type State = "on" | "blk" | "pre";

export interface Step {
  /** Index into the components; undefined: everything else. */
  readonly component: number | undefined;
  readonly from: number;
  readonly to: number;
  readonly state: State;
}

/** A cause of less than this share of the gap is not named. */
const leastShare = 0.001;
/** What is left over is named from this share on. */
const leastRest = 0.01;
const mostSteps = 7;

/** The state of a component: that of what its path leads to. */
export function stateOf({ kind, path }: Pick<Component, "kind" | "path">): State {
  const last = path.at(-1)?.kind ?? kind;
  return last === "blocked" ? "blk" : last === "preempted" ? "pre" : "on";
}

/** A few words for a component: "waiting in write_audit", "validate_order 3×, not 1×". */
export function labelOf(component: Component): string {
  const { kind, path, function: name, slow_count: more, typical_count: usual } = component;
  const inside = [component, ...path].filter((part) => part.kind === "child" && part.function !== null).at(-1)?.function ?? name;
  const where = inside === null ? "" : shortName(inside);
  switch (stateOf(component)) {
    case "blk":
      return where === "" ? l10n.t("waiting") : l10n.t("waiting in {0}", where);
    case "pre":
      return where === "" ? l10n.t("preempted") : l10n.t("preempted in {0}", where);
    case "on":
      if (kind === "self") return l10n.t("its own instructions");
      if (kind === "unknown") return l10n.t("code that is not known");
      if (effectOf(component) === "count" && usual > 0) return l10n.t("{0} {1}×, not {2}×", where, timesText(more), timesText(usual));
      return where;
  }
}

const timesText = (times: number): string => String(Number(times.toPrecision(2)));

/** Returns the steps, the largest first. They lead from `typical` to `slow` exactly. */
export function stepsOf({ typical, slow, gap, components }: Pick<Explanation, "typical" | "slow" | "gap" | "components">): Step[] {
  const steps: Step[] = [];
  let at = typical.mean;
  const ordered = components.map((component, index) => ({ component, index })).sort((a, b) => Math.abs(b.component.delta) - Math.abs(a.component.delta));
  for (const { component, index } of ordered.slice(0, mostSteps)) {
    if (component.delta === 0 || Math.abs(component.delta) < leastShare * Math.abs(gap)) continue;
    steps.push({ component: index, from: at, to: at + component.delta, state: stateOf(component) });
    at += component.delta;
  }
  if (Math.abs(slow.mean - at) >= leastRest * Math.abs(gap)) steps.push({ component: undefined, from: at, to: slow.mean, state: "on" });
  return steps;
}

export interface Axis {
  readonly end: number;
  /** What the axis leaves out; undefined: nothing. */
  readonly cut: readonly [number, number] | undefined;
  /** The place of a value, as a share of the axis. */
  readonly place: (value: number) => number;
}

/** A cause this many times larger than all others together is cut. */
const cutFactor = 10;
/** Width of the mark at a cut, as a share of what remains. */
const mark = 0.07;

export function axisOf(typical: number, steps: readonly Step[]): Axis {
  const end = Math.max(typical, ...steps.map(({ from, to }) => Math.max(from, to)));
  const plain: Axis = { end, cut: undefined, place: (value) => (end > 0 ? value / end : 0) };
  const size = ({ from, to }: Step): number => Math.abs(to - from);
  const [largest] = [...steps].sort((a, b) => size(b) - size(a));
  if (largest === undefined || largest.to <= largest.from) return plain;
  const others = steps.reduce((sum, step) => sum + (step === largest ? 0 : size(step)), 0);
  const rest = end - size(largest);
  if (size(largest) <= cutFactor * Math.max(others, Number.MIN_VALUE) || rest <= 0) return plain;
  const margin = 0.4 * rest;
  const [low, high] = [largest.from + margin, largest.to - margin];
  if (high - low < 2 * rest) return plain;
  const shown = low + (end - high);
  const gap = mark * shown;
  const whole = shown + gap;
  const place = (value: number): number => {
    if (value <= low) return value / whole;
    if (value >= high) return (low + gap + value - high) / whole;
    return (low + (gap * (value - low)) / (high - low)) / whole;
  };
  return { end, cut: [low, high], place };
}

/** Returns round values for the ticks of an axis, none of them in the cut. */
export function axisTicks({ end, cut, place }: Axis, wanted = 6): number[] {
  const span = cut === undefined ? end : cut[0] + end - cut[1];
  if (span <= 0) return [];
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const ticks: number[] = [];
  const add = (low: number, high: number): void => {
    for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high * (1 + 1e-9); tick += step) ticks.push(tick);
  };
  if (cut === undefined) add(0, end);
  else {
    add(0, cut[0]);
    add(cut[1], end);
  }
  return ticks.filter((tick) => cut === undefined || Math.abs(place(tick) - place((cut[0] + cut[1]) / 2)) > 0.07);
}

/** How a child's part divides: because it was called more often, and because its calls took longer. */
export type Effect = "count" | "cost" | "both" | "none";

export function effectOf({ count_part: often, cost_part: costly, kind }: Pick<Component, "count_part" | "cost_part" | "kind">): Effect {
  if (kind !== "child") return "none";
  const all = Math.abs(often) + Math.abs(costly);
  if (all === 0) return "none";
  if (Math.abs(costly) < 0.05 * all) return "count";
  return Math.abs(often) < 0.05 * all ? "cost" : "both";
}
