// What the flame graph counts and shows, and the way to the frame in focus.
import * as l10n from "@vscode/l10n";
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { Link, Segments, SourceLink } from "../base/controls";
import { count, share, time } from "../base/format";
import { shortName, withoutParameters } from "../base/names";
import { flame } from "../state/figures";
import { flameOptions, shownFunction } from "../state/store";
import { graph, hidden } from "./flame-state";
import { setFocus, stackTo } from "./focus";
import { shownName, type FlameNode } from "./hierarchy";
import type { Path } from "./transform";

export function Controls(): JSX.Element {
  const options = flameOptions.value;
  const known = flame.value.value?.recording.off_cpu_known ?? false;
  const times = [
    { value: "wall", label: l10n.t("Wall"), title: l10n.t("Wall-clock time") },
    ...(known
      ? ([
          { value: "on", label: l10n.t("On-CPU"), title: l10n.t("Time on a CPU") },
          { value: "off", label: l10n.t("Off-CPU"), title: l10n.t("Time during which the thread did not run") },
        ] as const)
      : []),
  ] as const;
  const scopes = [
    { value: "function", label: l10n.t("This function"), title: l10n.t("The selected calls and what they call") },
    { value: "callers", label: l10n.t("Callers of it"), title: l10n.t("Who calls this function, the innermost caller first") },
    { value: "all", label: l10n.t("All stacks"), title: l10n.t("All recorded stacks") },
  ] as const;
  const change = (part: Partial<typeof options>): void => {
    setFocus([]);
    hidden.value = [];
    flameOptions.value = { ...options, ...part };
  };
  return (
    <>
      <Segments choices={times} chosen={options.time} onChoose={(value) => { change({ time: value }); }} />
      {shownFunction.value === undefined ? null : <Segments choices={scopes} chosen={options.scope} onChoose={(value) => { change({ scope: value }); }} />}
      <span class="seg">
        <button type="button" aria-pressed={options.mergeRecursion} title={l10n.t("Draw a function that calls itself once")} onClick={() => { change({ mergeRecursion: !options.mergeRecursion }); }}>
          {l10n.t("Merge recursion")}
        </button>
      </span>
    </>
  );
}

function timeAndCalls({ value, calls }: FlameNode): string {
  if (calls === 0) return time(value);
  return calls === 1 ? l10n.t("{0} in 1 call", time(value)) : l10n.t("{0} in {1} calls", time(value), count(calls));
}

/** A longer way is shown by its first frame and its last ones, so that it stays on one line. */
const mostCrumbs = 5;
const lastCrumbs = 3;

/** From all stacks to the frame in focus. */
export function Crumbs({ path }: { readonly path: Path }): JSX.Element | null {
  const [isWhole, setWhole] = useState(false);
  const whole = graph.value?.root;
  if (whole === undefined) return null;
  const stack = stackTo(whole, path);
  const last = stack.at(-1);
  const isLeftOut = (index: number): boolean => !isWhole && stack.length > mostCrumbs && index > 0 && index < stack.length - lastCrumbs;
  return (
    <p class="crumbs">
      {stack.map((node, index) => {
        if (isLeftOut(index)) {
          const number = stack.length - 1 - lastCrumbs;
          return index > 1 ? null : <span key={index}>› <Link title={l10n.t("Show {0} more callers", number)} onClick={() => { setWhole(true); }}>…</Link></span>;
        }
        const name = node.function === undefined ? l10n.t("all stacks") : shortName(node.name);
        return (
          <span key={index} class="crumb">
            {index > 0 ? "› " : ""}
            {node === last ? <span class="mono" title={node.name}>{name}</span> : <Link code title={`${l10n.t("Zoom out to this frame")}: ${node.function === undefined ? name : node.name}`} onClick={() => { setFocus(path.slice(0, index)); }}>{name}</Link>}
          </span>
        );
      })}
      {last === undefined ? null : <span>· {timeAndCalls(last)}</span>}
      {hidden.value.length === 0 ? null : <span>· <Link small onClick={() => { hidden.value = []; }}>{l10n.t("Show {0} hidden", hidden.value.length)}</Link></span>}
    </p>
  );
}

/** The figures of the frame under the pointer, or of the one that has the keyboard. */
export function Card({ node, total }: { readonly node: FlameNode; readonly total: number }): JSX.Element {
  const { function: identity } = node;
  const off = node.value > 0 ? node.off / node.value : 0;
  return (
    <>
      <b class="mono">{node.kind === "frame" ? withoutParameters(node.name) : shownName(node)}</b>
      {identity === undefined ? null : <> · <SourceLink file={identity.file} line={identity.line} /></>}
      <dl>
        <dt>{l10n.t("total")}</dt>
        <dd>{time(node.value)} · {share(node.value / Math.max(1, total))}</dd>
        <dt>{l10n.t("itself")}</dt>
        <dd>{node.selfKnown ? time(node.self) : "–"}</dd>
        {flame.value.value?.recording.off_cpu_known === true ? <><dt>{l10n.t("on-CPU / off-CPU")}</dt><dd>{share(1 - off)} / {share(off)}</dd></> : null}
        {node.calls > 0 ? <><dt>{l10n.t("calls")}</dt><dd>{l10n.t("{0}, of {1}", count(node.calls), time(node.value / node.calls))}</dd></> : null}
      </dl>
    </>
  );
}
