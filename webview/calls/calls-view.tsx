// The tab Calls: all selected calls, the slowest first, in a list that draws only what is in sight.
import { computed } from "@preact/signals";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer, type VirtualItem } from "@tanstack/virtual-core";
import * as l10n from "@vscode/l10n";
import { useEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { Icon, Link } from "../base/controls";
import { ShareBar } from "../base/data-table";
import { briefFigure, count, figure, moment } from "../base/format";
import { shortName } from "../base/names";
import { distribution } from "../state/figures";
import { isSameCall, keptCall, showCall, toggleKept } from "../state/one-call";
import { isSelected, select, threadName } from "../state/store";
import { callAt, need, order, pages, type Call, type CallOrder } from "./calls-state";
import { partsToTell, partWords, type Words } from "./longest-parts";

const rowHeight = 24;

/** The command line that lists these calls. */
export const callsCommand = computed(() => pages.value.command);

/** Draws the rows in sight, and some before and after them. */
function useRows(total: number): readonly [{ current: HTMLDivElement | null }, readonly VirtualItem[], Virtualizer<HTMLDivElement, Element> | undefined] {
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const [virtualizer, setVirtualizer] = useState<Virtualizer<HTMLDivElement, Element>>();
  useEffect(() => {
    const created = new Virtualizer<HTMLDivElement, Element>({
      count: total,
      getScrollElement: () => scroller.current,
      estimateSize: () => rowHeight,
      overscan: 12,
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      onChange: () => { redraw((drawn) => drawn + 1); },
    });
    const clean = created._didMount();
    created._willUpdate();
    setVirtualizer(created);
    return clean;
  }, [total]);
  return [scroller, virtualizer?.getVirtualItems() ?? [], virtualizer];
}

function stateText({ state }: Call): string {
  if (state === "complete") return "";
  return state === "incomplete" ? l10n.t("incomplete") : l10n.t("unwound");
}

function PartWords({ words }: { readonly words: Words }): JSX.Element {
  return <>{words.map((word, index) => (typeof word === "string" ? word : <code key={index}>{word.code}</code>))}</>;
}

function LongestParts({ call }: { readonly call: Call }): JSX.Element {
  const all = call.parts.map((part) => partWords(part, call.self !== null));
  const title = all.map((words) => words.map((word) => (typeof word === "string" ? word : word.code)).join("")).join("; ");
  const told = partsToTell(call.parts, call.latency).map((part) => partWords(part, call.self !== null));
  return (
    <span role="cell" class="small parts" title={title}>
      {call.state === "complete" ? null : <span class="dim">{stateText(call)}{told.length > 0 ? " · " : ""}</span>}
      {told.map((words, index) => <span key={index}>{index > 0 ? "; " : ""}<PartWords words={words} /></span>)}
    </span>
  );
}

interface RowProps {
  readonly index: number;
  readonly call: Call | undefined;
  /** Latency of the longest bar, ns. */
  readonly longest: number;
  readonly item: VirtualItem;
  readonly isCurrent: boolean;
  readonly onPick: () => void;
}

function CallRow({ index, call, longest, item, isCurrent, onPick }: RowProps): JSX.Element {
  const place = { transform: `translateY(${String(item.start)}px)` };
  if (call === undefined) return <div class="call-row" role="row" aria-rowindex={index + 2} style={place}><span role="cell" class="dim">…</span></div>;
  const origin = distribution.value.value?.trace_start ?? 0;
  const { latency, blocked, preempted } = call;
  const total = Math.max(1, latency ?? 0);
  const onCpu = latency === null ? null : Math.max(0, latency - blocked - preempted);
  const isKept = isSameCall(keptCall.value, call);
  const open = (event: MouseEvent): void => {
    event.stopPropagation();
    showCall(call);
  };
  return (
    <div class={`call-row${isCurrent ? " picked" : ""}`} role="row" aria-rowindex={index + 2} style={place} data-index={index} onClick={onPick} onDblClick={() => { showCall(call); }}>
      <span role="cell">{isKept ? <span class="kept" title={l10n.t("Kept for comparison")}><Icon name="pinned" /><span class="hidden-text">{l10n.t("kept")}</span></span> : null}#{count(call.number)}</span>
      <span role="cell" class="r">{moment(call.start - origin)}</span>
      <span role="cell" class="r latency" title={latency === null ? undefined : figure(latency, call.resolution)}>{latency === null ? "–" : briefFigure(latency, call.resolution)}</span>
      <span role="cell" class="r">{onCpu === null ? "–" : briefFigure(onCpu, call.resolution)}</span>
      <span role="cell"><span class="share"><ShareBar part={total / Math.max(1, longest)} states={{ on: (onCpu ?? 0) / total, blocked: blocked / total, preempted: preempted / total }} /></span></span>
      <span role="cell" class="mono">{threadName(call.tid)}</span>
      <span role="cell" class="mono opt" title={call.caller}>{shortName(call.caller)}</span>
      <LongestParts call={call} />
      <span role="cell" class="open"><button type="button" class="link small" tabIndex={-1} onClick={open}>{l10n.t("Timeline")}</button></span>
    </div>
  );
}

function Head(): JSX.Element {
  const heads: readonly (readonly [string, CallOrder | undefined, string])[] = [
    [l10n.t("call"), undefined, ""], [l10n.t("at"), "start", "r"], [l10n.t("latency"), "latency", "r"], [l10n.t("on-CPU"), undefined, "r"], [l10n.t("off-CPU"), "off_cpu", ""],
    [l10n.t("thread"), undefined, ""], [l10n.t("called from"), undefined, "opt"], [l10n.t("longest parts"), undefined, "parts"], ["", undefined, ""],
  ];
  const sortBy = (by: CallOrder): void => {
    order.value = { by, descending: order.value.by === by ? !order.value.descending : by !== "start" };
  };
  const arrow = order.value.descending ? " ↓" : " ↑";
  return (
    <div class="call-row heads" role="row" aria-rowindex={1}>
      {heads.map(([text, by, className], index) => (
        <span key={index} role="columnheader" class={className} aria-sort={by === order.value.by ? (order.value.descending ? "descending" : "ascending") : undefined}>
          {by === undefined ? text : <button type="button" onClick={() => { sortBy(by); }}>{text}{by === order.value.by ? arrow : ""}</button>}
        </span>
      ))}
    </div>
  );
}

export function CallsView(): JSX.Element {
  const total = pages.value.total ?? 0;
  const [scroller, items, virtualizer] = useRows(total);
  const [current, setCurrent] = useState(0);
  useEffect(() => {
    for (const { index } of items) need(index);
  });
  const longest = order.value.by === "latency" && order.value.descending ? (callAt(0)?.latency ?? 1) : (distribution.value.value?.slowest.latency[0] ?? 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    const chosen = event.key === "Enter" ? callAt(current) : undefined;
    if (chosen !== undefined) {
      showCall(chosen);
      event.preventDefault();
      return;
    }
    const kept = event.key === " " ? callAt(current) : undefined;
    if (kept !== undefined) {
      toggleKept(kept);
      event.preventDefault();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, "]": 1, "[": -1, Home: -total, End: total }[event.key];
    if (step === undefined) return;
    const next = Math.max(0, Math.min(total - 1, current + step));
    setCurrent(next);
    virtualizer?.scrollToIndex(next);
    event.preventDefault();
  };
  const { failure } = pages.value;
  return (
    <section class="first" data-section="calls" aria-label={l10n.t("Calls")}>
      <div class="head">
        <h2>{total === 1 ? l10n.t("1 call") : l10n.t("{0} calls", count(total))}</h2>
        <span class="grow" />
        <span class="small dim">{l10n.t("Enter or double-click: timeline of the call · Space: keep it for comparison")}</span>
      </div>
      {failure === undefined ? null : <p class="failed" role="alert">{failure}</p>}
      <div role="table" aria-label={l10n.t("Calls")} aria-rowcount={total + 1}>
        <Head />
        <div ref={scroller} class="call-list" role="rowgroup" tabIndex={0} aria-label={l10n.t("Calls")} onKeyDown={onKeyDown}>
          <div role="presentation" style={{ height: `${String(total * rowHeight)}px`, position: "relative" }}>
            {items.map((item) => (
              <CallRow key={item.key} index={item.index} item={item} call={callAt(item.index)} longest={longest} isCurrent={item.index === current} onPick={() => { setCurrent(item.index); }} />
            ))}
          </div>
        </div>
      </div>
      {isSelected.value ? (
        <p class="dim small">{l10n.t("These are the selected calls.")} <Link small onClick={() => { select({}); }}>{l10n.t("Clear the selection")}</Link></p>
      ) : null}
    </section>
  );
}
