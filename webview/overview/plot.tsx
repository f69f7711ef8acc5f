// A chart: uPlot draws axes and follows the pointer; the caller draws the data.
import { useEffect, useRef } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "../state/store";
import { readPalette, type Palette } from "./colors";

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
  /** Drawn above the chart, positioned by `left` and `top` in the area of the data. */
  readonly children?: ComponentChildren;
}

const right = 20;
const bottom = 24;

function optionsOf({ width, drawn, onBrush, both = false, hover }: Props, palette: Palette, tip: HTMLElement): uPlot.Options {
  const { x, y, xTicks, yTicks, xText, yText, left, top, height, draw } = drawn;
  const scale = window.devicePixelRatio;
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: palette.dim, font, ticks: { stroke: palette.line, size: 4, width: 1 }, gap: 4 };
  return {
    width,
    height: top + height + bottom,
    padding: [top, right, 0, 0],
    legend: { show: false },
    scales: { x: { time: false, range: () => [x[0], x[1]] }, y: { range: () => [y[0], y[1]] } },
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    axes: [
      { ...axis, size: bottom, grid: { show: false }, splits: () => [...xTicks], values: (_, values) => values.map(xText) },
      { ...axis, size: left, grid: { stroke: palette.grid, width: 1 }, ticks: { show: false }, splits: () => [...yTicks], values: (_, values) => values.map(yText) },
    ],
    cursor: { x: true, y: false, points: { show: false }, drag: { x: true, y: both, setScale: false, ...(both ? { uni: 12 } : {}) } },
    hooks: {
      draw: [
        (chart) => {
          const { ctx: context, bbox } = chart;
          context.save();
          draw({ context, palette, scale, area: bbox, x: (value) => chart.valToPos(value, "x", true), y: (value) => chart.valToPos(value, "y", true) });
          context.restore();
        },
      ],
      setSelect: [
        (chart) => {
          const { left: from, width: wide, top: above, height: high } = chart.select;
          if (wide < 2 && high < 2) return;
          const ys = high < 2 || !both ? y : ([chart.posToVal(above + high, "y"), chart.posToVal(above, "y")] as const);
          const xs = wide < 2 ? x : ([chart.posToVal(from, "x"), chart.posToVal(from + wide, "x")] as const);
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          onBrush({ x: xs, y: ys });
        },
      ],
      setCursor: [
        (chart) => {
          const { left: at = -1, top: down = -1 } = chart.cursor;
          const text = at < 0 ? "" : hover(chart.posToVal(at, "x"), chart.posToVal(down, "y"));
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

export function Plot(props: Props): JSX.Element {
  const { label, width, drawn, children } = props;
  const holder = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const shownTheme = theme.value;
  useEffect(() => {
    const { current: element } = holder;
    const { current: card } = tip;
    if (element === null || card === null || width <= 0) return undefined;
    const forwarded: Props = {
      ...props,
      onBrush: (span) => { latest.current.onBrush(span); },
      hover: (x, y) => latest.current.hover(x, y),
      drawn: { ...drawn, draw: (canvas) => { latest.current.drawn.draw(canvas); } },
    };
    const chart = new uPlot(optionsOf(forwarded, readPalette(), card), [[...drawn.x], [...drawn.y]], element);
    return () => {
      chart.destroy();
    };
  }, [width, drawn, shownTheme]);
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
