// A chart: uPlot draws axes and follows the pointer; the caller draws the data.
import { useEffect, useRef } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../state/store";
import { labelFont, readPalette, type Palette } from "./colors";

export interface Drawn {
  /** Limits of the axes. */
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly xTicks: readonly number[];
  readonly yTicks: readonly number[];
  readonly xText: (value: number) => string;
  readonly yText: (value: number) => string;
  /** Pixels left of the axis of y, above the chart, and of its height. */
  readonly left: number;
  readonly top: number;
  readonly height: number;
  readonly draw: (canvas: Canvas) => void;
}

export interface Canvas {
  readonly context: CanvasRenderingContext2D;
  readonly palette: Palette;
  /** Device pixels per CSS pixel. */
  readonly scale: number;
  /** The area of the data, in device pixels. */
  readonly area: { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

export interface Span {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

interface Props {
  readonly label: string;
  readonly width: number;
  readonly drawn: Drawn;
  /** Called with what the user drags over, in values of the axes. */
  readonly onBrush: (span: Span) => void;
  /** Whether dragging selects a height as well. */
  readonly both?: boolean;
  /** The text for what is under the pointer. */
  readonly hover: (x: number, y: number) => string;
  /** Called with the place of a click. */
  readonly onClick?: (x: number, y: number) => void;
  /** Drawn above the chart, positioned by `left` and `top` in the area of the data. */
  readonly children?: ComponentChildren;
}

const right = 20;
const bottom = 24;

/** The options of a chart. What it draws is read when it is drawn: `latest` changes while the user may be dragging. */
function optionsOf(latest: { readonly current: Props }, palette: Palette, tip: HTMLElement): uPlot.Options {
  const { width, both = false } = latest.current;
  const { left, top, height } = latest.current.drawn;
  const drawn = (): Drawn => latest.current.drawn;
  const scale = window.devicePixelRatio;
  const font = labelFont(1);
  const axis = { stroke: palette.dim, font, ticks: { stroke: palette.line, size: 4, width: 1 }, gap: 4 };
  return {
    width,
    height: top + height + bottom,
    padding: [top, right, 0, 0],
    legend: { show: false },
    scales: { x: { time: false, range: () => [...drawn().x] }, y: { range: () => [...drawn().y] } },
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    axes: [
      { ...axis, size: bottom, grid: { show: false }, splits: () => [...drawn().xTicks], values: (_, values) => values.map((value) => drawn().xText(value)) },
      { ...axis, size: left, grid: { stroke: palette.grid, width: 1 }, ticks: { show: false }, splits: () => [...drawn().yTicks], values: (_, values) => values.map((value) => drawn().yText(value)) },
    ],
    cursor: { x: true, y: false, points: { show: false }, drag: { x: true, y: both, setScale: false, ...(both ? { uni: 12 } : {}) } },
    hooks: {
      draw: [
        (chart) => {
          const { ctx: context, bbox } = chart;
          context.save();
          drawn().draw({ context, palette, scale, area: bbox, x: (value) => chart.valToPos(value, "x", true), y: (value) => chart.valToPos(value, "y", true) });
          context.restore();
        },
      ],
      ready: [
        (chart) => {
          chart.over.addEventListener("click", (event) => {
            const box = chart.over.getBoundingClientRect();
            latest.current.onClick?.(chart.posToVal(event.clientX - box.left, "x"), chart.posToVal(event.clientY - box.top, "y"));
          });
        },
      ],
      setSelect: [
        (chart) => {
          const { left: from, width: wide, top: above, height: high } = chart.select;
          if (wide < 2 && high < 2) return;
          const { x, y } = drawn();
          const ys = high < 2 || !both ? y : ([chart.posToVal(above + high, "y"), chart.posToVal(above, "y")] as const);
          const xs = wide < 2 ? x : ([chart.posToVal(from, "x"), chart.posToVal(from + wide, "x")] as const);
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onBrush({ x: xs, y: ys });
        },
      ],
      setCursor: [
        (chart) => {
          const { left: at = -1, top: down = -1 } = chart.cursor;
          const text = at < 0 ? "" : latest.current.hover(chart.posToVal(at, "x"), chart.posToVal(down, "y"));
          tip.hidden = text === "";
          tip.textContent = text;
          const beside = at > width / 2 ? -tip.offsetWidth - 12 : 12;
          tip.style.left = `${String(left + at + beside)}px`;
          tip.style.top = `${String(top + Math.max(0, down - 24))}px`;
        },
      ],
    },
  };
}

const dataOf = ({ x, y }: Drawn): uPlot.AlignedData => [[...x], [...y]];

export function Plot(props: Props): JSX.Element {
  const { label, width, drawn, children } = props;
  const holder = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const shownTheme = theme.value;
  useEffect(() => {
    const { current: element } = holder;
    const { current: card } = tip;
    if (element === null || card === null || width <= 0) return undefined;
    const created = new uPlot(optionsOf(latest, readPalette(), card), dataOf(latest.current.drawn), element);
    chart.current = created;
    return () => {
      chart.current = undefined;
      created.destroy();
    };
  }, [width, shownTheme]);
  useEffect(() => {
    chart.current?.setData(dataOf(drawn));
  }, [drawn]);
  return (
    <div class="plot">
      <div ref={holder} role="img" aria-label={label} />
      <div class="over" style={{ left: `${String(drawn.left)}px`, top: `${String(drawn.top)}px`, width: `${String(Math.max(0, width - drawn.left - right))}px`, height: `${String(drawn.height)}px` }}>
        {children}
      </div>
      <div ref={tip} class="tip" hidden aria-hidden="true" />
    </div>
  );
}
