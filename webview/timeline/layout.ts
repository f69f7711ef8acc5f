// Where the bars of the timeline are: one group of rows for the call, one for each thread that ended its waits, one for the
// call that it is compared with.
import * as l10n from "@vscode/l10n";
import { time } from "../base/format";
import { shortName } from "../base/names";
import { waitWord } from "../base/wait-words";
import type { CallTimeline, NestedCall, Part, Wait } from "./call-tree";
import type { TimeAxis } from "./fold-axis";

export type BarState = "root" | "on" | "blk" | "pre" | "lost";
type Meanwhile = CallTimeline["meanwhile"][number];

export interface Bar {
  readonly state: BarState;
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** Pixels */
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly level: number;
  readonly call: NestedCall | undefined;
  readonly wait: Wait | undefined;
  readonly meanwhile: Meanwhile | undefined;
}

export interface Lane {
  readonly title: string;
  /** Of the title. */
  readonly y: number;
  /** Below the last row. */
  readonly end: number;
  readonly bars: readonly Bar[];
}

/** From the thread that ended a wait to the call. */
export interface Arrow {
  readonly x: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface Layout {
  readonly call: Lane;
  readonly threads: readonly Lane[];
  readonly other: Lane | undefined;
  readonly arrows: readonly Arrow[];
  readonly height: number;
  /** Rows that are too deep to draw. */
  readonly deeper: number;
}

export const rowHeight = 21;
export const barHeight = 20;
const titleHeight = 24;
const between = 16;
const headHeight = 48;
const deepest = 24;
/** A bar of a call that does nothing but wait is drawn as waiting. */
const onlyWaiting = 0.9;

export function waitText(wait: Wait): string {
  return `${waitWord(wait.reason, wait.likely)}, ${time(wait.duration)}`;
}

function stateOf({ kind, wait, call, children }: Part, level: number): BarState {
  if (kind === "lost") return "lost";
  if (wait !== undefined) return wait.reason === "preempted" ? "pre" : "blk";
  if (level === 0) return "root";
  const isLeaf = children.every(({ kind }) => kind === "wait");
  return call !== undefined && isLeaf && call.off_cpu >= onlyWaiting * call.wall && call.off_cpu > 0 ? "blk" : "on";
}

function textOf({ kind, call, wait, latency }: Part): string {
  if (kind === "lost") return l10n.t("lost, {0}", time(latency));
  if (wait !== undefined) return waitText(wait);
  return call?.function === null || call === undefined ? l10n.t("unknown code") : shortName(call.function);
}

const leastWidth = 1.5;

interface Span {
  readonly x: number;
  readonly width: number;
}

function spanOf(axis: TimeAxis, from: number, to: number): Span {
  const x = axis.place(Math.max(0, from));
  return { x, width: Math.max(leastWidth, axis.place(Math.min(to, axis.end)) - x - 1) };
}

/** Returns the bars of a call. Of bars that would hide each other, only the first is drawn. */
function barsOf(root: Part, axis: TimeAxis, y: number): { readonly bars: Bar[]; readonly rows: number; readonly deeper: number } {
  const bars: Bar[] = [];
  const drawnTo: number[] = [];
  let [rows, deeper] = [0, 0];
  const visit = (part: Part, level: number): void => {
    if (level >= deepest) {
      deeper += 1;
      return;
    }
    const span = spanOf(axis, part.from, part.to);
    if (span.width > leastWidth || span.x >= (drawnTo[level] ?? -1)) {
      bars.push({ ...span, state: stateOf(part, level), text: textOf(part), from: part.from, to: part.to, y: y + level * rowHeight, level, call: part.call, wait: part.wait, meanwhile: undefined });
      drawnTo[level] = span.x + span.width;
      rows = Math.max(rows, level + 1);
    }
    for (const child of part.children) visit(child, level + 1);
  };
  visit(root, 0);
  return { bars, rows, deeper };
}

/** The thread released the lock for which the call waited. */
function holds(call: Meanwhile, waits: readonly Wait[]): boolean {
  return waits.some(({ reason, waker, woken }) => reason === "lock" && waker?.tid === call.tid && waker.function === call.function && woken !== null && woken >= call.start && woken <= call.start + call.wall);
}

function threadBars(calls: readonly Meanwhile[], waits: readonly Wait[], axis: TimeAxis, y: number): { readonly bars: Bar[]; readonly rows: number } {
  const open: number[] = [];
  let rows = 0;
  const bars = calls.filter(({ start, wall }) => start < axis.end && start + wall > 0).map((call): Bar => {
    const to = call.start + call.wall;
    while (open.length > 0 && (open.at(-1) ?? 0) <= call.start) open.pop();
    const level = open.length;
    open.push(to);
    rows = Math.max(rows, level + 1);
    const text = holds(call, waits) ? l10n.t("{0} holds the lock", shortName(call.function)) : shortName(call.function);
    return { ...spanOf(axis, call.start, to), state: "on", text, from: call.start, to, y: y + level * rowHeight, level, call: undefined, wait: undefined, meanwhile: call };
  });
  return { bars, rows };
}

const mostThreads = 4;
const mostArrows = 12;

/** Returns the threads that ended waits, the one that ended the longest ones first. */
function wakersOf(waits: readonly Wait[]): [number, Wait[]][] {
  const byThread = new Map<number, Wait[]>();
  for (const wait of waits) {
    if (wait.waker?.kind === "thread" && wait.woken !== null) byThread.set(wait.waker.tid, [...(byThread.get(wait.waker.tid) ?? []), wait]);
  }
  const total = (list: readonly Wait[]): number => list.reduce((sum, { duration }) => sum + duration, 0);
  return [...byThread].sort(([, one], [, other]) => total(other) - total(one)).slice(0, mostThreads);
}

function arrowText({ reason, likely, waker }: Wait, thread: string, isDrawn: boolean): string {
  const does = reason === "lock" && !likely ? l10n.t("unlocks, wakes {0}", thread) : l10n.t("wakes {0}", thread);
  if (isDrawn || waker === null || waker.function === "") return does;
  return `${shortName(waker.function)} ${does}`;
}

function wakerTitle(tid: number, waker: Wait["waker"] | undefined): string {
  const thread = `${waker?.thread ?? ""} ${String(tid)}`.trimStart();
  const process = waker?.process ?? "";
  if (process === "") return l10n.t("Thread {0}", thread);
  return process === waker?.thread ? l10n.t("Process {0}", thread) : l10n.t("Thread {0} of process {1}", thread, `${process} ${String(waker?.pid)}`);
}

interface Shown {
  readonly timeline: Pick<CallTimeline, "waits" | "meanwhile" | "thread">;
  readonly root: Part;
}

export function layoutOf({ timeline, root }: Shown, title: string, other: (Shown & { readonly title: string }) | undefined, axis: TimeAxis): Layout {
  let y = headHeight;
  const lane = (text: string, drawn: { readonly bars: Bar[]; readonly rows: number }): Lane => {
    const made = { title: text, y: y + titleHeight - 8, end: y + titleHeight + drawn.rows * rowHeight, bars: drawn.bars };
    y = made.end + between;
    return made;
  };
  const own = barsOf(root, axis, y + titleHeight);
  const call = lane(title, own);
  const arrows: Arrow[] = [];
  const threads = wakersOf(timeline.waits).map(([tid, waits]) => {
    const from = y + titleHeight + 4;
    const drawn = threadBars(timeline.meanwhile.filter((each) => each.tid === tid), waits, axis, from);
    const longest = [...waits].sort((one, another) => another.duration - one.duration).slice(0, mostArrows);
    for (const [index, wait] of longest.entries()) {
      const bar = own.bars.find((each) => each.wait === wait);
      if (bar === undefined) continue;
      arrows.push({ x: axis.place(wait.woken ?? 0), from, to: bar.y + barHeight, text: index === 0 ? arrowText(wait, timeline.thread, drawn.bars.length > 0) : "" });
    }
    y += 4;
    return lane(wakerTitle(tid, waits[0]?.waker), drawn);
  });
  let second: Lane | undefined;
  if (other !== undefined) second = lane(other.title, barsOf(other.root, axis, y + titleHeight));
  return { call, threads, other: second, arrows, height: y, deeper: own.deeper };
}

/** Returns the bar that an arrow key leads to: beside it in its row, or the nearest one above or below it. */
export function neighbour(bars: readonly Bar[], current: Bar | undefined, key: string): Bar | undefined {
  if (current === undefined) return bars[0];
  const middle = (bar: Bar): number => bar.x + bar.width / 2;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const row = bars.filter(({ y }) => y === current.y).sort((one, other) => one.x - other.x);
    return row[row.indexOf(current) + (key === "ArrowLeft" ? -1 : 1)];
  }
  const down = key === "ArrowDown";
  const distance = (bar: Bar): number => (down ? bar.y - current.y : current.y - bar.y);
  const beyond = (bar: Bar): number => Math.max(0, bar.x - middle(current), middle(current) - bar.x - bar.width);
  const inside = (bar: Bar): number => (bar.x + bar.width > current.x && bar.x < current.x + current.width ? 0 : 1);
  return bars.filter((bar) => distance(bar) > 0).sort((one, other) => inside(one) - inside(other) || distance(one) - distance(other) || beyond(one) - beyond(other))[0];
}
