// The tab Flame graph: controls, search, the way to the frame in focus, the graph, its card and its menu.
import * as l10n from "@vscode/l10n";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { DeeperLink, Icon, Legend, Link } from "../base/controls";
import { count, share } from "../base/format";
import { post, reveal } from "../base/host";
import { shortName } from "../base/names";
import { flame, flameDetail, wholeFlame } from "../state/figures";
import { flameOptions, isSelected, select, selection, shownFunction, subject, theme } from "../state/store";
import { functionName } from "../overview/related-tables";
import { useWidth } from "../base/use-width";
import { toggleCaller, withPart } from "../state/selection";
import { Card, Controls, Crumbs } from "./flame-controls";
import { FlameGraph } from "./flame-graph";
import { FrameMenu, type MenuItem } from "./frame-menu";
import { drawnGraph, focus, graph, hidden, searchText, uncountedText } from "./flame-state";
import { pathTo, setFocus, stackTo } from "./focus";
import { FrameTable } from "./frame-table";
import { maxDepth, type FlameNode } from "./hierarchy";
import { matcherOf, search } from "./search";
import type { Path } from "./transform";

interface MenuPlace {
  readonly node: FlameNode;
  readonly left: number;
  readonly top: number;
}

/** Selects the calls that a frame next to the root represents. */
function selectFrame(node: FlameNode, path: Path): (() => void) | undefined {
  const { scope } = flameOptions.value;
  if (node.function === undefined || shownFunction.value === undefined || path.length !== 1) return undefined;
  const name = functionName(node.function);
  if (scope === "function") return () => { select(withPart(selection.value, "calls", [{ function: name, least: 1 }])); };
  if (scope === "callers") return () => { select(toggleCaller(selection.value, { function: name, file: "", line: 0 })); };
  return undefined;
}

/** Returns the way to the frame that is drawn over the whole width when a frame is opened; undefined: it has no calls in it. */
function opening(node: FlameNode, { root, path }: { readonly root: FlameNode; readonly path: Path }): Path | undefined {
  if (node.kind === "off" || node.kind === "lost") return undefined;
  const below = pathTo(root, node) ?? [];
  return [...path, ...(node.kind === "smaller" ? below.slice(0, -1) : below)];
}

export function FlameView(): JSX.Element {
  const [element, width] = useWidth();
  const [chart, setChart] = useState<FlameGraph>();
  const [card, setCard] = useState<FlameNode>();
  const [current, setCurrent] = useState<FlameNode>();
  const [opened, setOpened] = useState<FlameNode>();
  const [menu, setMenu] = useState<MenuPlace>();
  const [hit, setHit] = useState(0);
  const [isTable, setTable] = useState(false);
  const holder = useRef<HTMLDivElement>(null);
  /** The way from the drawn root to the frame that has the keyboard. */
  const keyboard = useRef<Path | undefined>(undefined);
  const drawn = drawnGraph.value;
  /** For what the chart calls later. */
  const latest = useRef(drawn);
  const matcher = matcherOf(searchText.value);
  const found = useMemo(() => (drawn === undefined || matcher === undefined ? undefined : search(drawn.root, matcher)), [drawn, searchText.value]);

  useEffect(() => {
    focus.value = [];
    hidden.value = [];
    flameDetail.value = wholeFlame;
  }, [subject.value]);

  const isEmpty = drawn === undefined || drawn.root.value <= 0;
  latest.current = drawn;

  useEffect(() => {
    const { current: container } = holder;
    const first = latest.current?.root;
    if (container === null || first === undefined || width <= 0 || isEmpty) return undefined;
    const next = new FlameGraph(container, first, width, {
      onOpen: (node) => {
        const path = latest.current === undefined ? undefined : opening(node, latest.current);
        if (path === undefined) return;
        setOpened(node);
        setFocus(path);
      },
      onHover: (node) => { setCard(node); },
      onMove: (node) => { setCurrent(node); },
    });
    setChart(next);
    return () => {
      next.dispose();
      setChart(undefined);
      setCurrent(undefined);
    };
  }, [width, isEmpty, isTable, theme.value, flameOptions.value]);

  useEffect(() => {
    if (chart === undefined || drawn === undefined) return undefined;
    chart.show(drawn.root);
    const { current: kept } = keyboard;
    if (kept !== undefined) chart.moveTo(stackTo(drawn.root, kept).at(-1));
    return () => { setMenu(undefined); };
  }, [chart, drawn]);

  useEffect(() => {
    chart?.mark(found?.hits ?? []);
    setHit(0);
  }, [chart, drawn, found]);

  if (drawn === undefined) return <p class="dim small first">{flame.value.failure ?? l10n.t("Counting")}</p>;

  const moveTo = (node: FlameNode | undefined): void => {
    chart?.moveTo(node);
    keyboard.current = node === undefined ? undefined : pathTo(drawn.root, node);
  };
  const step = (by: number): void => {
    if (found === undefined || found.hits.length === 0) return;
    const next = (hit + by + found.hits.length) % found.hits.length;
    setHit(next);
    moveTo(found.hits[next]);
  };
  const open = (node: FlameNode): void => {
    const path = opening(node, drawn);
    if (path === undefined) return;
    keyboard.current = undefined;
    setOpened(node);
    setFocus(path);
  };
  const hide = (node: FlameNode): void => {
    const path = pathTo(drawn.root, node);
    if (path !== undefined && path.length > 0) hidden.value = [...hidden.value, [...drawn.path, ...path]];
  };
  const copyStack = (node: FlameNode): void => {
    const stack = graph.value === undefined ? [] : stackTo(graph.value.root, [...drawn.path, ...(pathTo(drawn.root, node) ?? [])]);
    post({ type: "copy", text: stack.filter((each) => each.function !== undefined).map(({ name }) => name).join(";") });
  };
  const showCallers = (node: FlameNode): void => {
    if (node.function === undefined) return;
    const { name, binary, address } = node.function;
    flameOptions.value = { ...flameOptions.value, scope: "callers" };
    if (node.key !== graph.value?.root.key) post({ type: "function", function: { name, binary, address } });
  };
  const sourceOf = (node: FlameNode): void => {
    if (node.function !== undefined) reveal(node.function.file, node.function.line);
  };
  const itemsOf = (node: FlameNode): MenuItem[] => {
    const pick = selectFrame(node, [...drawn.path, ...(pathTo(drawn.root, node) ?? [])]);
    const deeper = flame.value.value?.recording.backend === "uprobe" ? node.function : undefined;
    return [
      { label: l10n.t("Focus"), keys: "Enter", run: () => { open(node); } },
      { label: l10n.t("Hide"), keys: "Del", run: () => { hide(node); } },
      ...(shownFunction.value === undefined ? [] : [{ label: l10n.t("Show Callers"), keys: "C", run: () => { showCallers(node); } }]),
      { label: l10n.t("Copy Stack"), keys: "Ctrl+C", apart: true, run: () => { copyStack(node); } },
      { label: l10n.t("Open Source"), keys: "F12", run: () => { sourceOf(node); } },
      ...(pick === undefined ? [] : [{ label: l10n.t("Select These {0} Calls", count(node.calls)), keys: "S", apart: true, run: pick }]),
      ...(deeper === undefined || deeper.address === null
        ? []
        : [{ label: l10n.t("Go Deeper"), apart: true, run: () => { post({ type: "goDeeper", function: { name: deeper.name, binary: deeper.binary, address: deeper.address } }); } }]),
    ];
  };
  const onContextMenu = (event: MouseEvent): void => {
    const node = chart?.nodeAt(event);
    if (node?.kind !== "frame") return;
    event.preventDefault();
    const box = holder.current?.getBoundingClientRect();
    setMenu({ node, left: Math.max(0, Math.min(event.clientX - (box?.left ?? 0), width - 240)), top: event.clientY - (box?.top ?? 0) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    if (key.startsWith("Arrow")) moveTo(chart?.neighbour(key) ?? current);
    else if (key === "+" && current !== undefined) open(current);
    else if (key === "-") setFocus(drawn.path.slice(0, -1));
    else if (key === "0") setFocus([]);
    else if (key === "Escape" && drawn.path.length > 0) setFocus(drawn.path.slice(0, -1));
    else if (current === undefined) return;
    else if (key === "Enter") open(current);
    else if (key === "Delete") hide(current);
    else if (key === "F12") sourceOf(current);
    else if (key.toLowerCase() === "c") {
      if (event.ctrlKey || event.metaKey) copyStack(current);
      else showCallers(current);
    } else if (key.toLowerCase() === "s") selectFrame(current, [...drawn.path, ...(pathTo(drawn.root, current) ?? [])])?.();
    else if (key === "ContextMenu" || (key === "F10" && event.shiftKey)) setMenu({ node: current, left: 16, top: 16 });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const shownCard = card ?? current;
  return (
    <section class="first flame" data-section="flame" aria-label={l10n.t("Flame graph")}>
      <div class="head">
        <Controls />
        <span class="find">
          <input
            class="search"
            aria-label={l10n.t("Search frames")}
            placeholder={l10n.t("Search: words or /regex/i")}
            value={searchText.value}
            onInput={(event) => { searchText.value = (event.currentTarget).value; }}
            onKeyDown={(event) => {
              if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
              else if (event.key === "Escape") searchText.value = "";
              else return;
              event.stopPropagation();
            }}
          />
          {found === undefined ? null : (
            <span class="matched dim" role="status">
              {found.hits.length === 0 ? l10n.t("no match") : l10n.t("{0} matched · {1} of {2}", share(found.share), hit + 1, count(found.hits.length))}
            </span>
          )}
          <button type="button" aria-label={l10n.t("Previous match")} onClick={() => { step(-1); }}><Icon name="chevron-up" /></button>
          <button type="button" aria-label={l10n.t("Next match")} onClick={() => { step(1); }}><Icon name="chevron-down" /></button>
        </span>
        <Link small title={l10n.t("The same figures as a table")} onClick={() => { setTable(!isTable); }}>{isTable ? l10n.t("Chart") : l10n.t("Table")}</Link>
      </div>
      <Crumbs path={drawn.path} />
      {(graph.value?.omitted ?? 0) > 0 ? (
        <p class="dim small">
          {l10n.t("The graph shows {0} frames of a stack. It omits {1} deeper frames and adds their time to the self time of their callers.", count(maxDepth), count(graph.value?.omitted ?? 0))}
        </p>
      ) : null}
      {uncountedText.value === undefined ? null : <p class="dim small">{uncountedText.value}</p>}
      {isEmpty ? <p class="dim small">{l10n.t("The recording contains no time of this kind.")}</p> : null}
      <div ref={element} class="graph-area">
        {isTable ? <FrameTable root={drawn.root} /> : (
          <div
            ref={holder}
            class="graph"
            role="tree"
            tabIndex={0}
            aria-label={l10n.t("Flame graph")}
            onKeyDown={onKeyDown}
            onContextMenu={onContextMenu}
          />
        )}
        {menu === undefined ? null : <FrameMenu items={itemsOf(menu.node)} left={menu.left} top={menu.top} onClose={() => { setMenu(undefined); holder.current?.focus(); }} />}
      </div>
      <div class="card-line">
        {shownCard === undefined ? null : <div class="card"><Card node={shownCard} total={drawn.total} /></div>}
        {opened?.function === undefined || flame.value.value?.recording.backend !== "uprobe" || opened.function.address === null ? null : (
          <p class="deeper"><span class="mono">{shortName(opened.name)}</span> <DeeperLink of={opened.function} /></p>
        )}
      </div>
      <p class="head foot">
        <Legend />
        <span class="grow" />
        <span class="dim small">{isSelected.value ? l10n.t("of the selected calls · ") : ""}{l10n.t("width = time · Enter or + zooms, Escape zooms out · right-click for more")}</span>
      </p>
    </section>
  );
}
