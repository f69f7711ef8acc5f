// The tab Timeline: one call with the calls in it, its waits and what ended them, beside a typical call or one that was kept.
import * as l10n from "@vscode/l10n";
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { Button, Legend, Link, Section, Segments, SourceLink } from "../base/controls";
import { briefFigure, count, moment, time } from "../base/format";
import { reveal } from "../base/host";
import { shortName } from "../base/names";
import { useWidth } from "../base/use-width";
import { distribution } from "../state/figures";
import { isSameCall, keptCall, picked, toggleKept } from "../state/one-call";
import { select, tab, type ShownFunction } from "../state/store";
import { treeOf, type CallTimeline, type Part } from "./call-tree";
import { partingOf } from "./differences";
import { axisOf, foldsOf, runningIn } from "./fold-axis";
import { layoutOf, neighbour, type Bar } from "./layout";
import { BarCard, BarTable, placeOf } from "./timeline-card";
import { TimelineChart, WholeCall } from "./timeline-chart";
import { againstKept, comparedCall, comparedTimeline, parting, rank, shownCall, slowest, timeline } from "./timeline-state";
import { WhatDiffers } from "./what-differs";

const folded = signal(true);
const zoom = signal(1);
const mostZoom = 4096;
const setZoom = (to: number): void => {
  zoom.value = Math.max(1, Math.min(mostZoom, to));
};

const intervals = (waits: CallTimeline["waits"]): { from: number; to: number }[] => waits.map(({ start, duration }) => ({ from: start, to: start + duration }));

function step(by: number): void {
  const { value: index } = rank;
  const next = slowest.value[Math.max(0, Math.min(slowest.value.length - 1, index < 0 ? 0 : index + by))];
  if (next !== undefined) picked.value = next;
}

function Head({ of: { tid, start, thread } }: { readonly of: CallTimeline }): JSX.Element {
  const origin = distribution.value.value?.trace_start ?? start;
  const isKept = isSameCall(keptCall.value, { tid, start });
  const place = rank.value;
  const title = place < 0 ? l10n.t("One call") : place === 0 ? l10n.t("The slowest call") : l10n.t("Call {0} of {1}, the slowest first", count(place + 1), count(slowest.value.length));
  const flame = (): void => {
    select({ tids: [tid], time: [start - origin, start - origin] });
    tab.value = "flame";
  };
  return (
    <div class="head">
      <h2 tabIndex={-1}>{title}</h2>
      <span class="small dim">{l10n.t("at {0} · {1} {2}", moment(start - origin), thread, tid)}</span>
      <span class="grow" />
      <Link small title={l10n.t("Select this call and show its flame graph")} onClick={flame}>{l10n.t("Flame graph of it")}</Link>
      <span class="seg" role="group" aria-label={l10n.t("Other slow calls")}>
        <button type="button" title={l10n.t("A slower call ([)")} disabled={place === 0} onClick={() => { step(-1); }}>{l10n.t("Previous")}</button>
        <button type="button" title={l10n.t("A faster call (])")} disabled={place >= slowest.value.length - 1} onClick={() => { step(1); }}>{l10n.t("Next")}</button>
        <button type="button" disabled={place === 0} onClick={() => { picked.value = slowest.value[0]; }}>{l10n.t("Slowest")}</button>
      </span>
      <Button title={l10n.t("Compare other calls with this one (Space)")} onClick={() => { toggleKept({ tid, start }); }}>{isKept ? l10n.t("Kept") : l10n.t("Keep")}</Button>
    </div>
  );
}

/** The branch that the call and its typical twin took differently. */
function PartingLine({ of: { call, twin, ...branch } }: { readonly of: NonNullable<NonNullable<CallTimeline["twin"]>["parting"]> }): JSX.Element {
  const place = ({ function: name, file, line }: typeof call): JSX.Element => (file === "" ? <code>{shortName(name)}</code> : <SourceLink file={file} line={line} />);
  return (
    <p class="small">
      {l10n.t("They part at a branch in")} <code>{shortName(branch.function)}</code> ({place(branch)}): {l10n.t("this call goes on at")} {place(call)}, {l10n.t("the typical one at")} {place(twin)}.
    </p>
  );
}

function incompleteText({ lost }: CallTimeline): string {
  if (lost.length === 0) return l10n.t("The end of this call was not seen; the times are what was seen of it.");
  const total = lost.reduce((sum, { duration }) => sum + duration, 0);
  return l10n.t("{0} of the trace of this call is lost. Calls in that time are not known.", time(total));
}

interface Compared {
  readonly timeline: CallTimeline;
  readonly root: Part;
  readonly title: string;
}

/** The call that the shown one is compared with, once its answer is here. */
function comparedWith(): Compared | undefined {
  const answer = comparedTimeline.value.value?.timeline;
  const root = answer === undefined ? undefined : treeOf(answer);
  if (answer === undefined || root === undefined || !isSameCall(answer, comparedCall.value)) return undefined;
  const facts = `${answer.thread} ${String(answer.tid)} · ${briefFigure(answer.latency, answer.resolution)}`;
  return { timeline: answer, root, title: `${againstKept.value ? l10n.t("Kept call") : l10n.t("Nearest typical call")} · ${facts}` };
}

interface ChartProps {
  readonly shown: CallTimeline;
  readonly root: Part;
  readonly other: Compared | undefined;
  readonly offCpuKnown: boolean;
}

function Chart({ shown, root, other, offCpuKnown }: ChartProps): JSX.Element {
  const [measure, outer] = useWidth();
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(-1);
  const [hovered, setHovered] = useState<Bar>();
  const [scrolled, setScrolled] = useState(0);
  const inner = Math.max(320, outer - 1);
  const width = inner * zoom.value;
  const end = Math.max(1, shown.wall, other?.timeline.wall ?? 0);
  const { axis, layout, groups, bars } = useMemo(() => {
    const running = other === undefined ? [] : runningIn(other.timeline.wall, intervals(other.timeline.waits));
    // Of a call that is shorter than the other one, there is nothing to fold after its end.
    const folds = folded.value ? foldsOf(end, intervals(shown.waits), running, inner) : [];
    const made = axisOf(end, folds, width);
    const title = `${l10n.t("This call")} · ${shown.thread} ${String(shown.tid)} · ${briefFigure(shown.latency, shown.resolution)}`;
    const drawn = layoutOf({ timeline: shown, root }, title, other, made);
    const lanes = [drawn.call, ...drawn.threads, ...(drawn.other === undefined ? [] : [drawn.other])];
    return { axis: made, layout: drawn, groups: lanes, bars: lanes.flatMap((lane) => lane.bars) };
  }, [shown, other, width, folded.value]);
  useEffect(() => {
    setCurrent(-1);
    zoom.value = 1;
  }, [shown, other]);
  useEffect(() => {
    const [bar, { current: element }] = [bars[current], scroller];
    if (bar === undefined || element === null) return;
    if (bar.x < element.scrollLeft || bar.x > element.scrollLeft + element.clientWidth - 24) element.scrollLeft = bar.x - 24;
  }, [current, width]);
  const partsAt = useMemo(() => (other === undefined ? undefined : partingOf(root, other.root)), [root, other]);
  const open = (bar: Bar | undefined): void => {
    if (bar === undefined) return;
    const { file, line } = placeOf(bar);
    reveal(file, line);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key.startsWith("Arrow")) setCurrent((now) => { const next = neighbour(bars, bars[now], key); return next === undefined ? now : bars.indexOf(next); });
    else if (key === "Enter" || key === "F12") open(bars[current]);
    else if (key === "+") setZoom(zoom.value * 2);
    else if (key === "-") setZoom(zoom.value / 2);
    else if (key === "0" || (key === "Escape" && zoom.value > 1)) setZoom(1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const back = (x: number): number => {
    let [low, high] = [0, axis.end];
    for (let round = 0; round < 40; round += 1) {
      const middle = (low + high) / 2;
      if (axis.place(middle) < x) low = middle;
      else high = middle;
    }
    return low;
  };
  const shownBar = hovered ?? bars[current];
  const choices = [{ value: "fold", label: l10n.t("Fold waits") }, { value: "scale", label: l10n.t("To scale") }] as const;
  return (
    <Section
      name="timeline"
      title={l10n.t("In order of time")}
      right={
        <>
          <span class="small dim">{axis.folds.length > 0 ? l10n.t("waits are folded at //") : ""}</span>
          <Segments choices={choices} chosen={folded.value ? "fold" : "scale"} onChoose={(value) => { folded.value = value === "fold"; }} />
          <span class="seg" role="group" aria-label={l10n.t("Zoom")}>
            <button type="button" aria-label={l10n.t("Zoom in")} title={l10n.t("Zoom in (+)")} onClick={() => { setZoom(zoom.value * 2); }}>+</button>
            <button type="button" aria-label={l10n.t("Zoom out")} title={l10n.t("Zoom out (-)")} onClick={() => { setZoom(zoom.value / 2); }}>−</button>
            <button type="button" title={l10n.t("The whole call (0)")} onClick={() => { setZoom(1); }}>{l10n.t("Whole")}</button>
          </span>
        </>
      }
      table={() => <BarTable groups={groups} />}
    >
      <div ref={measure}>
        <p class="dim small">{l10n.t("Whole call, to scale")}</p>
        <WholeCall end={end} waits={shown.waits} lost={shown.lost} width={inner} seen={zoom.value > 1 ? [back(scrolled), back(scrolled + inner)] : undefined} />
        <div
          ref={scroller}
          class="timeline-scroll"
          role="tree"
          tabIndex={0}
          aria-label={l10n.t("Timeline of the call. The link Table shows the same figures.")}
          aria-activedescendant={current >= 0 ? `bar-${String(current)}` : undefined}
          onKeyDown={onKeyDown}
          onScroll={(event) => { setScrolled(event.currentTarget.scrollLeft); }}
        >
          <TimelineChart layout={layout} axis={axis} width={width} parting={partsAt} bars={bars} current={bars[current]} onPick={(bar) => { setCurrent(bars.indexOf(bar)); }} onHover={setHovered} />
        </div>
      </div>
      <p class="head foot">
        <Legend lost={shown.lost.length > 0} />
        <span class="grow" />
        <span class="dim small">{l10n.t("← → next bar · ↓ into it · Enter opens the source")}</span>
      </p>
      {shown.left_out + layout.deeper === 0 ? null : <p class="dim small">{l10n.t("{0} further calls in it are not drawn.", count(shown.left_out + layout.deeper))}</p>}
      <div class="card-line">{shownBar === undefined ? null : <div class="card"><BarCard bar={shownBar} offCpuKnown={offCpuKnown} /></div>}</div>
    </Section>
  );
}

export function TimelineView({ shown: { report } }: { readonly shown: ShownFunction }): JSX.Element {
  const { value, failure, loading } = timeline.value;
  const known = report.recording.off_cpu_known;
  const onKeyDown = (event: KeyboardEvent): void => {
    const isControl = event.target instanceof Element && event.target.closest("button, a, vscode-button, input") !== null;
    if (event.key === "[" || event.key === "]") step(event.key === "[" ? -1 : 1);
    else if (event.key === " " && !isControl && shownCall.value !== undefined) toggleKept(shownCall.value);
    else return;
    event.preventDefault();
  };
  if (shownCall.value === undefined) {
    return <p class="dim small first">{distribution.value.value === undefined ? l10n.t("Counting") : l10n.t("No complete call is selected. Remove a condition to see one.")}</p>;
  }
  if (failure !== undefined) {
    return (
      <div class="first">
        <p class="failed" role="alert">{failure}</p>
        <p><Button onClick={() => { picked.value = slowest.value[0]; }}>{l10n.t("Show the Slowest Call")}</Button></p>
      </div>
    );
  }
  const shown = value?.timeline;
  const root = shown === undefined ? undefined : treeOf(shown);
  if (shown === undefined || root === undefined) return <p class="dim small first">{l10n.t("Reading the call")}</p>;
  const other = comparedWith();
  const isStale = loading || !isSameCall(shown, shownCall.value);
  return (
    <div class={isStale ? "stale" : ""} onKeyDown={onKeyDown}>
      <section class="first" data-section="one-call" aria-label={l10n.t("Timeline")}>
        <Head of={shown} />
        {known ? null : <p class="warning" role="status">{l10n.t("The recording does not contain when a thread waited. Record with context switches to see waits here.")}</p>}
        {shown.state === "complete" ? null : <p class="warning" role="status">{incompleteText(shown)}</p>}
        {shown.twin === null && !againstKept.value ? <p class="dim small">{l10n.t("There is no typical call to compare it with.")}</p> : null}
        {parting.value === null || againstKept.value ? null : <PartingLine of={parting.value} />}
        {againstKept.value ? <p class="dim small">{l10n.t("Compared with the call that you kept.")} <Link small onClick={() => { keptCall.value = undefined; }}>{l10n.t("Compare with a typical one")}</Link></p> : null}
      </section>
      <Chart shown={shown} root={root} other={other} offCpuKnown={known} />
      {report.raw === undefined ? null : <p class="dim small">{l10n.t("The bars contain the time that the probes took. The figures do not.")}</p>}
      <WhatDiffers one={root} other={other?.root} otherTitle={againstKept.value ? l10n.t("kept call") : l10n.t("typical")} />
    </div>
  );
}
