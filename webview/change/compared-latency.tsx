// Two distributions of latency in one chart: the baseline as a line, the shown recording as bars.
import * as l10n from "@vscode/l10n";
import { useMemo } from "preact/hooks";
import type { JSX } from "preact";
import type { DistributionResult } from "../../extension/src/panel/panel-messages";
import { Section } from "../base/controls";
import { DataTable } from "../base/data-table";
import { range, share, tick } from "../base/format";
import { useWidth } from "../base/use-width";
import { limitsAround, ticksFor } from "../overview/axis";
import { resolvedBins } from "../overview/resolved";
import { Plot, type Canvas, type Drawn } from "../overview/plot";
import { selectLatency } from "../overview/histogram";

type Bin = DistributionResult["bins"][number];

const [left, top, height] = [52, 16, 120];
/** The smallest share that is drawn. */
const least = 0.0002;

/** Calls in a bin as a share of all. */
const partOf = (bin: Bin, total: number): number => bin.calls / Math.max(1, total);

const heightOf = (part: number): number => Math.log10(Math.max(part, least) / least);
const log = (ns: number): number => Math.log10(Math.max(1, ns));

type Drawable = Pick<DistributionResult, "total"> & { readonly bins: readonly Bin[] };

function drawBars({ context, palette, scale, area, x, y }: Canvas, { bins, total }: Drawable): void {
  context.fillStyle = palette.on;
  context.globalAlpha = 0.75;
  for (const bin of bins) {
    if (bin.calls === 0) continue;
    const [from, to] = [x(log(bin.low)), x(log(bin.high))];
    const above = y(heightOf(partOf(bin, total.calls)));
    context.fillRect(from + scale / 2, above, Math.max(1, to - from - scale), area.top + area.height - above);
  }
  context.globalAlpha = 1;
}

function drawLine({ context, palette, scale, area, x, y }: Canvas, { bins, total }: Drawable): void {
  const base = area.top + area.height;
  context.strokeStyle = palette.fg;
  context.lineWidth = 1.5 * scale;
  context.beginPath();
  context.moveTo(x(log(bins[0]?.low ?? 1)), base);
  for (const bin of bins) {
    const above = bin.calls === 0 ? base : y(heightOf(partOf(bin, total.calls)));
    context.lineTo(x(log(bin.low)), above);
    context.lineTo(x(log(bin.high)), above);
  }
  context.lineTo(x(log(bins.at(-1)?.high ?? 1)), base);
  context.stroke();
}

/** `resolution`: a latency below it is only known to be small, ns. */
export function ComparedLatency({ before: base, now: present, resolution }: { readonly before: DistributionResult; readonly now: DistributionResult; readonly resolution: number }): JSX.Element {
  const before = useMemo(() => ({ ...base, ...resolvedBins(base.bins, resolution) }), [base, resolution]);
  const now = useMemo(() => ({ ...present, ...resolvedBins(present.bins, resolution) }), [present, resolution]);
  const [element, width] = useWidth();
  const all = [...before.bins, ...now.bins];
  const limits = limitsAround(Math.min(...all.map(({ low }) => low)), Math.max(...all.map(({ high }) => high)));
  const most = Math.max(...before.bins.map((bin) => partOf(bin, before.total.calls)), ...now.bins.map((bin) => partOf(bin, now.total.calls)));
  const drawn = useMemo(
    (): Drawn => ({
      x: [Math.log10(limits[0]), Math.log10(limits[1])],
      y: [0, heightOf(most) * 1.05],
      xTicks: ticksFor(limits[0], limits[1], width - left).map(Math.log10),
      yTicks: [0.001, 0.01, 0.1].filter((part) => part <= most).map(heightOf),
      xText: (value) => tick(10 ** value),
      yText: (value) => share(10 ** value * least),
      left,
      top,
      height,
      draw: (canvas) => {
        drawBars(canvas, now);
        drawLine(canvas, before);
      },
    }),
    [before, now, width],
  );
  const hover = (x: number): string => {
    const ns = 10 ** x;
    const partAt = ({ bins, total }: Drawable): number => {
      const bin = bins.find(({ low, high }) => ns >= low && ns < high);
      return bin === undefined ? 0 : partOf(bin, total.calls);
    };
    return l10n.t("about {0}: base {1}, now {2}", tick(Number(ns.toPrecision(2))), share(partAt(before)), share(partAt(now)));
  };
  const rows = [...before.bins.map((bin) => ({ bin, isBase: true })), ...now.bins.map((bin) => ({ bin, isBase: false }))].filter(({ bin }) => bin.calls > 0);
  return (
    <Section
      name="compared"
      title={l10n.t("Latency")}
      right={<span class="keys"><span><i class="base" />{l10n.t("base")}</span><span><i class="on" />{l10n.t("now")}</span><span>{l10n.t("share of calls, logarithmic")}</span></span>}
      table={() => (
        <DataTable
          label={l10n.t("Latency")}
          rows={rows}
          rowKey={({ bin, isBase }) => `${String(isBase)} ${String(bin.low)}`}
          columns={[
            { head: l10n.t("recording"), left: true, cell: ({ isBase }) => (isBase ? l10n.t("base") : l10n.t("now")), value: ({ isBase }) => (isBase ? 0 : 1) },
            { head: l10n.t("latency"), left: true, cell: ({ bin }) => range(bin.low, bin.high), value: ({ bin }) => bin.low },
            { head: l10n.t("share"), cell: ({ bin, isBase }) => share(partOf(bin, (isBase ? before : now).total.calls)), value: ({ bin }) => bin.calls },
          ]}
        />
      )}
    >
      <div ref={element}>
        <Plot
          label={l10n.t("Latency of both recordings. The link Table shows the same figures.")}
          width={width}
          drawn={drawn}
          hover={hover}
          onBrush={({ x }) => { selectLatency(10 ** x[0], 10 ** x[1]); }}
        />
      </div>
      {now.below === undefined && before.below === undefined ? null : <p class="dim small">{l10n.t("The first bar is of the calls below what probes resolve.")}</p>}
    </Section>
  );
}
