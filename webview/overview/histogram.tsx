// The histogram of latency. The height of a bar is its number of calls, divided as the time of those calls divides.
import * as l10n from "@vscode/l10n";
import { useMemo } from "preact/hooks";
import type { JSX } from "preact";
import type { DistributionResult, Report } from "../../extension/src/panel/panel-messages";
import { Legend, Section, Segments } from "../base/controls";
import { DataTable } from "../base/data-table";
import { count, range, rounded, share, tick, time } from "../base/format";
import { isSelected, logCount, select, selection } from "../state/store";
import { withPart } from "../state/selection";
import { axisLimits, powersOfTen, roundSteps, ticksFor } from "./axis";
import { BrushHandle } from "./brush-handle";
import { fillOf, labelFont } from "./colors";
import { resolutionOf, resolvedBins } from "./resolved";
import { Plot, type Canvas, type Drawn } from "./plot";
import { useWidth } from "../base/use-width";

type Bin = DistributionResult["bins"][number];
type Interval = readonly [number | null, number | null];

const left = 44;
const top = 24;
const height = 144;
const headRoom = 8;

/** The height of a number of calls, which a logarithmic count draws with 0 at the bottom. */
const heightOf = (calls: number, isLog: boolean): number => (isLog ? Math.log1p(calls) : calls);

function drawBars({ context, palette, scale, area, x, y }: Canvas, bins: readonly Bin[], isLog: boolean): void {
  const base = area.top + area.height;
  for (const bin of bins) {
    if (bin.calls === 0) continue;
    const from = x(Math.log10(Math.max(1, bin.low)));
    const to = x(Math.log10(Math.max(1, bin.high)));
    const tall = base - y(heightOf(bin.calls, isLog));
    const total = bin.on_cpu + bin.blocked + bin.preempted;
    let at = base;
    for (const [state, part] of [["on", total === 0 ? 1 : bin.on_cpu / total], ["blk", bin.blocked / (total || 1)], ["pre", bin.preempted / (total || 1)]] as const) {
      const piece = tall * part;
      if (piece < 0.3) continue;
      at -= piece;
      context.fillStyle = fillOf(context, palette, state, scale);
      context.fillRect(from + scale / 2, at, Math.max(1, to - from - scale), piece);
    }
  }
  context.fillStyle = palette.line;
  context.fillRect(area.left, base - scale / 2, area.width, scale);
}

/** A line after the calls that probes do not resolve, and what they are. */
function drawBelow({ context, palette, scale, area, x }: Canvas, { high }: Bin): void {
  const at = x(Math.log10(high));
  context.fillStyle = palette.dim;
  context.fillRect(at - scale / 2, area.top, scale, area.height);
  context.font = labelFont(scale);
  context.textBaseline = "top";
  context.textAlign = "left";
  const [first, second] = [l10n.t("below what probes"), l10n.t("resolve: < {0}", tick(high))];
  const wide = Math.max(context.measureText(first).width, context.measureText(second).width);
  for (const [index, text] of [first, second].entries()) {
    const [left, top] = [at + 6 * scale, area.top + (4 + 14 * index) * scale];
    context.fillStyle = palette.bg;
    context.fillRect(left - 2 * scale, top - scale, wide + 4 * scale, 14 * scale);
    context.fillStyle = palette.fg;
    context.fillText(text, left, top);
  }
}

function drawPercentiles({ context, palette, scale, area, x }: Canvas, marks: readonly (readonly [string, number])[]): void {
  context.font = labelFont(scale);
  context.textBaseline = "bottom";
  context.textAlign = "left";
  let taken = Number.NEGATIVE_INFINITY;
  for (const [name, ns] of marks) {
    const at = x(Math.log10(Math.max(1, ns)));
    context.strokeStyle = palette.dim;
    context.lineWidth = scale;
    context.setLineDash([2 * scale, 2 * scale]);
    context.beginPath();
    context.moveTo(at, area.top - 8 * scale);
    context.lineTo(at, area.top + area.height);
    context.stroke();
    context.setLineDash([]);
    const wide = context.measureText(name).width;
    const from = Math.max(Math.min(at - wide / 2, area.left + area.width - wide), taken + 4 * scale);
    if (from + wide > area.left + area.width + 4 * scale) continue;
    context.fillStyle = palette.fg;
    context.fillText(name, from, area.top - 9 * scale);
    taken = from + wide;
  }
}

function drawBand({ context, palette, scale, area, x }: Canvas, [low, high]: Interval): void {
  const from = low === null || low < 1 ? area.left : x(Math.log10(low));
  const to = high === null ? area.left + area.width : x(Math.log10(Math.max(1, high)));
  context.save();
  context.beginPath();
  context.rect(area.left, area.top - 8 * scale, area.width, area.height + 8 * scale);
  context.clip();
  context.globalAlpha = 0.12;
  context.fillStyle = palette.sel;
  context.fillRect(from, area.top - 8 * scale, to - from, area.height + 8 * scale);
  context.globalAlpha = 1;
  for (const edge of [from, to]) context.fillRect(edge - 0.75 * scale, area.top - 8 * scale, 1.5 * scale, area.height + 8 * scale);
  context.restore();
}

/** The condition of calls between two latencies, which are rounded as the chip shows them. */
export function latencyCondition(low: number | null, high: number | null): [number | null, number | null] | undefined {
  if (low === null && high === null) return undefined;
  let digits = 2;
  const from = (): number | null => (low === null ? null : rounded(low, digits));
  const to = (): number | null => (high === null ? null : rounded(high, digits));
  while (digits < 6 && from() === to() && low !== high) digits += 1;
  return [from(), to()];
}

/** Selects the calls between two latencies. */
export function selectLatency(low: number | null, high: number | null): void {
  select(withPart(selection.value, "latency", latencyCondition(low, high)));
}

/** The p50 to p99.9 of the report that enough calls support. */
function percentiles({ latency, calls }: Report): [string, number][] {
  const marks: [string, number, number][] = [["p50", latency.p50, 2], ["p90", latency.p90, 10], ["p99", latency.p99, 100], ["p99.9", latency.p999, 1000]];
  return marks.filter(([, , needed]) => calls.complete >= needed).map(([name, ns]) => [name, ns]);
}

export function Histogram({ data, report }: { readonly data: DistributionResult; readonly report: Report }): JSX.Element {
  const [element, width] = useWidth();
  const isLog = logCount.value;
  const resolved = useMemo(() => resolvedBins(data.bins, resolutionOf(report)), [data, report]);
  const { bins, below } = resolved;
  const limits = axisLimits(resolved);
  const band = selection.value.latency;
  const most = Math.max(1, ...bins.map((bin) => bin.calls));
  const drawn = useMemo((): Drawn => {
    const counts = isLog ? powersOfTen(1, most) : roundSteps(most);
    const area = height - headRoom;
    return {
      x: [Math.log10(limits[0]), Math.log10(limits[1])],
      y: [0, (heightOf(most, isLog) * height) / area],
      xTicks: ticksFor(below?.high ?? limits[0], limits[1], width - left).map(Math.log10),
      yTicks: counts.map((calls) => heightOf(calls, isLog)),
      xText: (value) => tick(10 ** value),
      yText: (value) => count(Math.round(isLog ? Math.expm1(value) : value)),
      left,
      top,
      height,
      draw: (canvas) => {
        drawBars(canvas, bins, isLog);
        if (below !== undefined) drawBelow(canvas, below);
        drawPercentiles(canvas, percentiles(report));
        if (band !== undefined) drawBand(canvas, band);
      },
    };
  }, [data, isLog, width, JSON.stringify(band)]);
  const hover = (x: number): string => {
    const ns = 10 ** x;
    const bin = bins.find(({ low, high }) => ns >= low && ns < high);
    if (bin === undefined || bin.calls === 0) return "";
    if (bin === below) return l10n.t("{0} calls below what probes resolve (< {1})", count(bin.calls), tick(bin.high));
    return l10n.t("{0}: {1} calls, {2}", range(bin.low, bin.high), count(bin.calls), time(bin.time));
  };
  const counts = [{ value: "count", label: l10n.t("Count") }, { value: "log", label: l10n.t("Log count") }] as const;
  return (
    <Section
      name="histogram"
      title={l10n.t("Latency")}
      right={<><Legend /><Segments choices={counts} chosen={isLog ? "log" : "count"} onChoose={(value) => { logCount.value = value === "log"; }} /></>}
      table={() => <BinTable bins={bins} below={below} total={data.total.calls} />}
    >
      <div ref={element}>
        <Plot
          label={l10n.t("Histogram of latency. The link Table shows the same figures.")}
          width={width}
          drawn={drawn}
          onBrush={({ x: [low, high] }) => { selectLatency(below !== undefined && 10 ** low < below.high ? null : 10 ** low, 10 ** high); }}
          hover={hover}
        >
          {[0, 1].map((end) => (
            <BrushHandle key={end} end={end} interval={band ?? [null, null]} limits={limits} bins={bins} isActive={band !== undefined} onChange={selectLatency} />
          ))}
        </Plot>
      </div>
    </Section>
  );
}

function BinTable({ bins, below, total }: { readonly bins: readonly Bin[]; readonly below: Bin | undefined; readonly total: number }): JSX.Element {
  const rows = bins.filter((bin) => bin.calls > 0);
  return (
    <DataTable
      label={l10n.t("Latency")}
      rows={rows}
      rowKey={(bin) => String(bin.low)}
      actions={(bin) => ({ title: l10n.t("Click: select these calls"), onPick: () => { selectLatency(bin === below ? null : bin.low, bin.high); } })}
      columns={[
        { head: l10n.t("latency"), left: true, cell: (bin) => (bin === below ? l10n.t("{0}, below what probes resolve", range(null, bin.high)) : range(bin.low, bin.high)), value: (bin) => bin.low },
        { head: l10n.t("calls"), cell: (bin) => count(bin.calls), value: (bin) => bin.calls, className: "count" },
        { head: l10n.t("selected"), className: "sel-text", cell: (bin) => (isSelected.value ? count(bin.selected.calls) : "–"), value: (bin) => bin.selected.calls },
        { head: l10n.t("share"), cell: (bin) => share(bin.calls / total), value: (bin) => bin.calls },
        { head: l10n.t("on-CPU"), cell: (bin) => time(bin.on_cpu), value: (bin) => bin.on_cpu },
        { head: l10n.t("blocked"), cell: (bin) => time(bin.blocked), value: (bin) => bin.blocked },
        { head: l10n.t("preempted"), cell: (bin) => time(bin.preempted), value: (bin) => bin.preempted },
      ]}
    />
  );
}
