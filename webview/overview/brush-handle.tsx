// One end of the selected latency: a slider that the pointer drags, and that the arrow keys move by a bin.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { threshold } from "../base/format";
import { edgeAfter } from "./axis";

interface Props {
  /** 0: the lower end; 1: the upper one. */
  readonly end: number;
  readonly interval: readonly [number | null, number | null];
  readonly limits: readonly [number, number];
  readonly bins: readonly { readonly low: number; readonly high: number }[];
  readonly isActive: boolean;
  readonly onChange: (low: number | null, high: number | null) => void;
}

export function BrushHandle({ end, interval, limits, bins, isActive, onChange }: Props): JSX.Element {
  const value = interval[end] ?? limits[end] ?? 1;
  const span = Math.log10(limits[1] / limits[0]);
  const at = Math.min(1, Math.max(0, Math.log10(Math.max(1, value) / limits[0]) / span));
  const change = (ns: number): void => {
    const [low, high] = end === 0 ? [ns, interval[1]] : [interval[0], ns];
    if (low !== null && high !== null && low > high) onChange(high, low);
    else onChange(low, high);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const direction = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (direction === undefined) return;
    const edges = [...bins.map(({ low }) => low), bins.at(-1)?.high ?? limits[1]];
    change(edgeAfter(edges, value, direction * (event.shiftKey ? 10 : 1)));
    event.preventDefault();
    event.stopPropagation();
  };
  const onPointerDown = (event: PointerEvent): void => {
    const handle = event.currentTarget as HTMLElement;
    const box = handle.parentElement?.getBoundingClientRect();
    if (box === undefined) return;
    handle.setPointerCapture(event.pointerId);
    event.stopPropagation();
    const end = (ended: PointerEvent): void => {
      handle.removeEventListener("pointerup", end);
      const place = Math.min(1, Math.max(0, (ended.clientX - box.left) / box.width));
      change(limits[0] * 10 ** (place * span));
    };
    handle.addEventListener("pointerup", end);
  };
  return (
    <div
      class={`grip${isActive ? "" : " idle"}`}
      role="slider"
      tabIndex={0}
      aria-label={end === 0 ? l10n.t("Lower limit of the selected latency") : l10n.t("Upper limit of the selected latency")}
      aria-valuemin={limits[0]}
      aria-valuemax={limits[1]}
      aria-valuenow={value}
      aria-valuetext={threshold(value)}
      style={{ left: `${String(100 * at)}%` }}
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
    />
  );
}
