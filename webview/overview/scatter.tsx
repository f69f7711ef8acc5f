// Latency over time: the slowest calls one by one, the others as a grid of cells, and the time without a trace.
import * as l10n from "@vscode/l10n";
import { useMemo } from "preact/hooks";
import type { JSX } from "preact";
import type { DistributionResult, Report, Selection } from "../../extension/src/panel/panel-messages";
import { Link, Section } from "../base/controls";
import { DataTable } from "../base/data-table";
import { count, moment, range, rounded, tick, time } from "../base/format";
import { showCall } from "../state/one-call";
import { isSelected, select, selection, tab, threadName } from "../state/store";
import { withPart } from "../state/selection";
import { axisLimits, powersOfTen, roundSteps } from "./axis";
import { latencyCondition } from "./histogram";
import { resolutionOf, resolvedBins, type Resolved } from "./resolved";
import { fillOf, labelFont } from "./colors";
import { Plot, type Canvas, type Drawn, type Span } from "./plot";
import { useWidth } from "../base/use-width";

const left = 56;
const top = 20;
const height = 136;

interface Point {
  readonly at: number;
  readonly latency: number;
  readonly tid: number;
  readonly state: "on" | "blk" | "pre";
  readonly selected: boolean;
}

/** Returns the calls that are drawn one by one, the slowest last: they stay in sight. */
function pointsOf({ slowest, trace_start: origin }: DistributionResult): Point[] {
  return slowest.tid
    .map((tid, index): Point => {
      const [latency = 0, blocked = 0, preempted = 0] = [slowest.latency[index], slowest.blocked[index], slowest.preempted[index]];
      const onCpu = latency - blocked - preempted;
      const state = blocked > onCpu ? "blk" : preempted > 0 ? "pre" : "on";
      return { at: (slowest.start[index] ?? 0) - origin, latency, tid, state, selected: slowest.selected[index] ?? false };
    })
    .reverse();
}

function drawPoint({ context, palette, scale }: Canvas, x: number, y: number, { state, selected }: Point, faded: boolean): void {
  const big = 4 * scale;
  context.fillStyle = palette[state];
  context.globalAlpha = faded && !selected ? 0.6 : 1;
  context.beginPath();
  if (state === "blk") {
    context.moveTo(x - big, y);
    context.lineTo(x, y - big);
    context.lineTo(x + big, y);
    context.lineTo(x, y + big);
  } else if (state === "pre") {
    context.moveTo(x - 3 * scale, y + 3 * scale);
    context.lineTo(x, y - 3 * scale);
    context.lineTo(x + 3 * scale, y + 3 * scale);
  } else {
    context.arc(x, y, (faded && selected ? 2 : 1.5) * scale, 0, 2 * Math.PI);
  }
  context.closePath();
  context.fill();
  // A ring round each of many small dots would hide their color.
  if (faded && selected && state !== "on") {
    context.strokeStyle = palette.sel;
    context.lineWidth = 1.5 * scale;
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** Draws the calls that have no point of their own: the more in a cell, the more opaque. */
function drawGrid({ context, palette, x, y }: Canvas, data: DistributionResult, resolved: Resolved, points: readonly Point[]): void {
  const { grid, bins, time: [from, to] } = data;
  const { merged, below } = resolved;
  if (points.length >= data.total.calls || grid.columns === 0) return;
  const wide = Math.max(1, to - from) / grid.columns;
  const rest = Float64Array.from(grid.calls);
  for (const { at, latency } of points) {
    const column = Math.min(grid.columns - 1, Math.floor((at - from) / wide));
    const bin = bins.findIndex(({ low, high }) => latency >= low && latency < high);
    const cell = column * bins.length + bin;
    if (bin >= 0 && (rest[cell] ?? 0) > 0) rest[cell] = (rest[cell] ?? 0) - 1;
  }
  for (let column = 0; merged > 1 && column < grid.columns; column += 1) {
    const first = column * bins.length;
    rest[first] = rest.subarray(first, first + merged).reduce((sum, calls) => sum + calls, 0);
    rest.fill(0, first + 1, first + merged);
  }
  const most = Math.log1p(Math.max(1, ...rest));
  context.fillStyle = palette.on;
  for (const [cell, calls] of rest.entries()) {
    if (calls <= 0) continue;
    const bin = cell % bins.length === 0 && below !== undefined ? below : bins[cell % bins.length];
    const column = Math.floor(cell / bins.length);
    if (bin === undefined) continue;
    const above = y(Math.log10(Math.max(1, bin.high)));
    context.globalAlpha = 0.2 + (0.7 * Math.log1p(calls)) / most;
    context.fillRect(x(from + column * wide), above, Math.max(1, x(from + (column + 1) * wide) - x(from + column * wide)), Math.max(1, y(Math.log10(Math.max(1, bin.low))) - above));
  }
  context.globalAlpha = 1;
}

/** Draws the time without a trace, and how much it is where the words have room. */
function drawLost({ context, palette, scale, area, x }: Canvas, { lost }: DistributionResult): void {
  let free = area.left;
  context.font = labelFont(scale);
  context.textAlign = "center";
  for (const { start, duration, lost_ns: ns } of lost) {
    const [from, to] = [x(start), x(start + duration)];
    context.fillStyle = fillOf(context, palette, "lost", scale);
    context.fillRect(from, area.top, Math.max(scale, to - from), area.height);
    const text = l10n.t("{0} lost", time(ns));
    const half = context.measureText(text).width / 2;
    const middle = Math.max(area.left + half, Math.min(area.left + area.width - half, (from + to) / 2));
    if (to - from < 4 * scale || middle - half < free) continue;
    context.fillStyle = palette.dim;
    context.fillText(text, middle, area.top - 8 * scale);
    free = middle + half + 8 * scale;
  }
}

function drawBand({ context, palette, scale, area, x, y }: Canvas, { latency, time: span }: Selection): void {
  if (latency === undefined && span === undefined) return;
  const [low = null, high = null] = latency ?? [];
  const [from = null, to = null] = span ?? [];
  const above = high === null ? area.top : Math.max(area.top, y(Math.log10(Math.max(1, high))));
  const below = low === null || low < 1 ? area.top + area.height : Math.min(area.top + area.height, y(Math.log10(low)));
  const begin = from === null ? area.left : Math.max(area.left, x(from));
  const end = to === null ? area.left + area.width : Math.min(area.left + area.width, x(to));
  context.fillStyle = palette.sel;
  context.globalAlpha = 0.12;
  context.fillRect(begin, above, end - begin, below - above);
  context.globalAlpha = 1;
  if (latency !== undefined) for (const edge of [above, below]) context.fillRect(begin, edge - 0.75 * scale, end - begin, 1.5 * scale);
  if (span !== undefined) for (const edge of [begin, end]) context.fillRect(edge - 0.75 * scale, above, 1.5 * scale, below - above);
}

/** Selects the calls in a rectangle of the chart, whose sides are rounded as the chips show them. */
function selectSpan({ x: [from, to], y: [low, high] }: Span, isWhole: { x: boolean; y: boolean }): void {
  const next = isWhole.y ? selection.value : withPart(selection.value, "latency", latencyCondition(10 ** low, 10 ** high));
  const digits = Math.max(2, Math.ceil(Math.log10(Math.max(to, 1) / Math.max(to - from, 1))) + 2);
  select(isWhole.x ? next : withPart(next, "time", [rounded(Math.max(0, from), digits), rounded(to, digits)]));
}

export function Scatter({ data, report }: { readonly data: DistributionResult; readonly report: Report }): JSX.Element {
  const [element, width] = useWidth();
  const resolved = useMemo(() => resolvedBins(data.bins, resolutionOf(report)), [data, report]);
  const { below } = resolved;
  const limits = axisLimits(resolved);
  // Calls that probes do not resolve have no latency to be drawn at: they are one row of the grid.
  const points = useMemo(() => pointsOf(data).filter(({ latency }) => below === undefined || latency >= below.high), [data, below]);
  const [first, last] = data.time;
  const end = Math.max(1, report.recording.trace_ns, last);
  const chosen = selection.value;
  const drawn = useMemo(
    (): Drawn => ({
      x: [0, end],
      y: [Math.log10(limits[0]), Math.log10(limits[1])],
      xTicks: [0, ...roundSteps(end, width < 600 ? 4 : 7)],
      yTicks: powersOfTen(below?.high ?? limits[0], limits[1]).map(Math.log10),
      xText: (value) => (value === 0 ? "0 s" : tick(value)),
      yText: (value) => tick(10 ** value),
      left,
      top,
      height,
      draw: (canvas) => {
        drawLost(canvas, data);
        drawGrid(canvas, data, resolved, points);
        for (const point of points) drawPoint(canvas, canvas.x(point.at), canvas.y(Math.log10(Math.max(1, point.latency))), point, isSelected.peek());
        drawBand(canvas, chosen);
      },
    }),
    [data, points, JSON.stringify(chosen), width < 600],
  );
  const near = (x: number, y: number): Point | undefined => {
    const [wide, tall] = [end / Math.max(1, width), (drawn.y[1] - drawn.y[0]) / height];
    return points.findLast((point) => Math.abs(point.at - x) < 5 * wide && Math.abs(Math.log10(Math.max(1, point.latency)) - y) < 5 * tall);
  };
  const hover = (x: number, y: number): string => {
    const point = near(x, y);
    if (point === undefined && data.lost.some(({ start, duration }) => x >= start && x < start + duration)) return l10n.t("lost");
    return point === undefined ? "" : l10n.t("{0} at {1} on {2}. Click: its timeline", time(point.latency), moment(point.at), threadName(point.tid));
  };
  const open = (x: number, y: number): void => {
    const point = near(x, y);
    if (point !== undefined) showCall({ tid: point.tid, start: data.trace_start + point.at });
  };
  return (
    <Section
      name="scatter"
      title={l10n.t("Over time")}
      right={
        <span class="keys">
          <span>● {l10n.t("on-CPU")}</span>
          <span>◆ {l10n.t("mostly blocked")}</span>
          <span>▲ {l10n.t("preempted")}</span>
        </span>
      }
      table={() => <PointTable points={points} origin={data.trace_start} />}
    >
      <div ref={element}>
        <Plot
          both
          label={l10n.t("Latency over time, {0} to {1}. The link Table lists the slowest calls.", moment(first), moment(last))}
          width={width}
          drawn={drawn}
          hover={hover}
          onClick={open}
          onBrush={(span) => { selectSpan(span, { x: span.x[0] === drawn.x[0] && span.x[1] === drawn.x[1], y: span.y[0] === drawn.y[0] && span.y[1] === drawn.y[1] }); }}
        />
      </div>
      {below === undefined ? null : <p class="dim small">{l10n.t("The lowest row is of the calls below what probes resolve: < {0}.", tick(below.high))}</p>}
      {report.recording.lost_ns > 0 ? <LostLine report={report} /> : null}
    </Section>
  );
}

/** How much trace is lost, and the way to the calls in which it is. */
function LostLine({ report: { recording, calls } }: { readonly report: Report }): JSX.Element {
  const show = (): void => {
    select({ states: ["incomplete"] });
    tab.value = "calls";
  };
  return (
    <p class="dim small">
      {l10n.t("{0} of the trace is lost; calls in that time are missing here.", time(recording.lost_ns))}
      {calls.incomplete === 0 ? null : <>{" "}<Link small onClick={show}>{calls.incomplete === 1 ? l10n.t("Show the incomplete call") : l10n.t("Show the {0} incomplete calls", count(calls.incomplete))}</Link></>}
    </p>
  );
}

const listed = 200;

function PointTable({ points, origin }: { readonly points: readonly Point[]; readonly origin: number }): JSX.Element {
  const rows = points.slice(-listed);
  return (
    <>
      <DataTable
        label={l10n.t("Over time")}
        rows={rows}
        sorted={1}
        actions={(point) => ({ title: l10n.t("Click: the timeline of this call"), onPick: () => { showCall({ tid: point.tid, start: origin + point.at }); } })}
        rowKey={(point) => `${String(point.tid)} ${String(point.at)}`}
        columns={[
          { head: l10n.t("at"), cell: ({ at }) => moment(at), value: ({ at }) => at },
          { head: l10n.t("latency"), cell: ({ latency }) => time(latency), value: ({ latency }) => latency },
          { head: l10n.t("thread"), left: true, cell: ({ tid }) => threadName(tid), value: ({ tid }) => threadName(tid) },
          { head: l10n.t("mostly"), left: true, cell: ({ state }) => ({ on: l10n.t("on-CPU"), blk: l10n.t("blocked"), pre: l10n.t("preempted") })[state], value: ({ state }) => state },
        ]}
      />
      {points.length > rows.length ? <p class="dim small">{l10n.t("The {0} slowest calls; the tab Calls lists all. Latencies: {1}.", count(listed), range(rows[0]?.latency ?? 0, rows.at(-1)?.latency ?? null))}</p> : null}
    </>
  );
}
