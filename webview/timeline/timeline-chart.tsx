// The drawing of one call in order of time, beside the call that it is compared with.
import * as l10n from "@vscode/l10n";
import { Fragment } from "preact";
import type { JSX } from "preact";
import { briefFigure, tickText, time } from "../base/format";
import { timeTicks, type TimeAxis } from "./fold-axis";
import { barHeight, type Arrow, type Bar, type Lane, type Layout } from "./layout";

/** Width of a letter, and what surrounds a text, pixels. */
const [letter, around] = [7.3, 12];
const leastLetters = 4;

/** Returns as much of a text as fits. */
export function fitting(text: string, width: number): string {
  const letters = Math.floor((width - around) / letter);
  if (text.length <= letters) return text;
  return letters >= leastLetters ? `${text.slice(0, letters - 1)}…` : "";
}

const fills = { root: "var(--neutral)", on: "var(--on-soft)", blk: "url(#soft-blocked)", pre: "url(#soft-preempted)", lost: "url(#lost)" } as const;
const states = (): Record<Bar["state"], string> => ({ root: "", on: "", blk: l10n.t("blocked"), pre: l10n.t("preempted"), lost: "" });

/** Two strokes where a fold cuts a bar. */
function Cut({ x, y, height }: { readonly x: number; readonly y: number; readonly height: number }): JSX.Element {
  const [left, top, down] = [String(x - 6), String(y - 2), String(height)];
  return (
    <g class="cut" aria-hidden="true">
      <path class="gap" d={`M${left} ${String(y - 2 + height)}l6 -${down}h6l-6 ${down}z`} />
      <path class="edge" d={`M${left} ${String(y - 2 + height)}L${String(x)} ${top}M${String(x)} ${String(y - 2 + height)}L${String(x + 6)} ${top}`} />
    </g>
  );
}

interface BarProps {
  readonly bar: Bar;
  readonly index: number;
  readonly axis: TimeAxis;
  readonly isCurrent: boolean;
  readonly onPick: (bar: Bar) => void;
  readonly onHover: (bar: Bar | undefined) => void;
}

const middleOf = (axis: TimeAxis, index: number): number => {
  const fold = axis.folds[index];
  return fold === undefined ? 0 : (axis.place(fold.from) + axis.place(fold.to)) / 2;
};

function BarView({ bar, index, axis, isCurrent, onPick, onHover }: BarProps): JSX.Element {
  const { x, y, width, state, text, from, to, level } = bar;
  const cuts = axis.folds.map((fold, at) => ({ fold, at })).filter(({ fold }) => from < fold.to && to > fold.from).map(({ at }) => middleOf(axis, at));
  // A text ends before the first fold.
  const room = Math.min(width, ...cuts.map((cut) => cut - x - 8).filter((each) => each > 40));
  return (
    <g
      id={`bar-${String(index)}`}
      class={`bar ${state}${isCurrent ? " cur" : ""}`}
      role="treeitem"
      aria-level={level + 1}
      aria-selected={isCurrent}
      onClick={() => { onPick(bar); }}
      onMouseEnter={() => { onHover(bar); }}
      onMouseLeave={() => { onHover(undefined); }}
    >
      <title>{[text, states()[state], time(to - from), l10n.t("at {0}", time(Math.max(0, from)))].filter(Boolean).join(", ")}</title>
      <rect x={x} y={y} width={width} height={barHeight} style={{ fill: fills[state] }} />
      {cuts.map((cut) => <Cut key={cut} x={cut} y={y} height={barHeight + 4} />)}
      <text aria-hidden="true" x={x + 6} y={y + 14}>{fitting(text, room)}</text>
    </g>
  );
}

function ArrowView({ arrow: { x, from, to, text }, width }: { readonly arrow: Arrow; readonly width: number }): JSX.Element {
  const isLeft = x + 12 + text.length * 6.5 > width;
  return (
    <g class="arrow">
      <path d={`M${String(x)} ${String(from)}V${String(to + 4)}`} />
      <path class="head" d={`M${String(x - 4)} ${String(to + 8)}l4 -7 4 7z`} />
      <text x={isLeft ? x - 8 : x + 10} y={from - 8} text-anchor={isLeft ? "end" : "start"}>{text}</text>
    </g>
  );
}

interface Props {
  readonly layout: Layout;
  readonly axis: TimeAxis;
  readonly width: number;
  readonly parting: number | undefined;
  readonly bars: readonly Bar[];
  readonly current: Bar | undefined;
  readonly onPick: (bar: Bar) => void;
  readonly onHover: (bar: Bar | undefined) => void;
}

const partText = 88;

export function TimelineChart({ layout, axis, width, parting, bars, current, onPick, onHover }: Props): JSX.Element {
  const { call, threads, other, arrows, height } = layout;
  const { ticks, step } = timeTicks(axis, width);
  const lanes: Lane[] = [call, ...threads, ...(other === undefined ? [] : [other])];
  const part = parting === undefined ? undefined : axis.place(parting);
  const returned = other?.bars[0];
  return (
    <svg class="timeline" width={width + 1} height={height} role="presentation">
      {ticks.map((tick) => (
        <Fragment key={tick}>
          <line class="grid" x1={axis.place(tick)} x2={axis.place(tick)} y1="24" y2={height - 8} />
          <text class="tick" x={axis.place(tick)} y="16" text-anchor={tick === 0 ? "start" : "middle"}>{tickText(tick, step)}</text>
        </Fragment>
      ))}
      {axis.folds.map(({ from, to }, index) => (
        <text key={from} class="tick strong" x={middleOf(axis, index)} y="16" text-anchor="middle">{`// ${time(to - from)}`}</text>
      ))}
      <text class="tick" x={width} y="16" text-anchor="end">{time(axis.end)}</text>
      <line class="grid" x1={width} x2={width} y1="24" y2={call.end} />
      {lanes.map(({ title, y }) => <text key={y} class="title" x="0" y={y}>{title}</text>)}
      {bars.map((bar, index) => <BarView key={index} bar={bar} index={index} axis={axis} isCurrent={bar === current} onPick={onPick} onHover={onHover} />)}
      {arrows.map((arrow) => <ArrowView key={arrow.x} arrow={arrow} width={width} />)}
      {returned !== undefined && returned.x + returned.width + 160 < width ? (
        <text class="tick" x={returned.x + returned.width + 8} y={returned.y + 14}>{l10n.t("takes {0}", briefFigure(returned.call?.latency ?? 0, returned.call?.resolution))}</text>
      ) : null}
      {part === undefined ? null : (
        <g class="part">
          <path d={`M${String(part)} 28V48M${String(part)} ${String(call.y + 8)}V${String(call.end)}${other === undefined ? "" : `M${String(part)} ${String(other.y + 8)}V${String(other.end)}`}`} />
          <text x={part + partText > width ? part - 8 : part + 8} y="40" text-anchor={part + partText > width ? "end" : "start"}>{l10n.t("here they part")}</text>
        </g>
      )}
    </svg>
  );
}

/** The whole call to scale, and the part of it that is in sight after a zoom. */
export function WholeCall({ end, waits, lost, width, seen }: { readonly end: number; readonly waits: readonly { readonly start: number; readonly duration: number; readonly reason: string }[]; readonly lost: readonly { readonly start: number; readonly duration: number }[]; readonly width: number; readonly seen: readonly [number, number] | undefined }): JSX.Element {
  const x = (at: number): number => (at / Math.max(1, end)) * width;
  return (
    <svg class="timeline" width={width + 1} height="20" role="img" aria-label={l10n.t("The whole call to scale")}>
      <rect x="0" y="2" width={width} height="12" style={{ fill: "var(--on-soft)" }} />
      {waits.map(({ start, duration, reason }) => (
        <rect key={start} x={x(start)} y="2" width={Math.max(1, x(duration))} height="12" style={{ fill: reason === "preempted" ? "url(#full-preempted)" : "url(#full-blocked)" }} />
      ))}
      {lost.map(({ start, duration }) => (
        <rect key={start} x={x(start)} y="2" width={Math.max(1, x(duration))} height="12" style={{ fill: "url(#lost)" }} />
      ))}
      <rect class="frame" x="0.5" y="1.5" width={Math.max(1, width - 1)} height="13" />
      {seen === undefined ? null : <rect class="seen" x={x(seen[0])} y="1" width={Math.max(3, x(seen[1] - seen[0]))} height="14" />}
    </svg>
  );
}
