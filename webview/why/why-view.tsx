// The tab Why slow: the bridge from a typical to a slow call, the causes, and the kinds of slow calls.
import * as l10n from "@vscode/l10n";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Selection } from "../../extension/src/panel/panel-messages";
import { Link, Section, Segments, Sentence, SourceLink } from "../base/controls";
import { DataTable, ShareBar } from "../base/data-table";
import { count, difference, range, share, time } from "../base/format";
import { shortName } from "../base/names";
import { showCall } from "../state/one-call";
import { withPart } from "../state/selection";
import { againstRest, isSelected, select, selection, type ShownFunction } from "../state/store";
import { effectOf, labelOf, stateOf, stepsOf, type Component, type Explanation } from "./bridge";
import { Bridge } from "./bridge-view";
import { WaitsSection } from "./waits-view";
import { explanation } from "./why-state";

const wholeOf = (state: "on" | "blk" | "pre"): { on: number; blocked: number; preempted: number } => ({ on: state === "on" ? 1 : 0, blocked: state === "blk" ? 1 : 0, preempted: state === "pre" ? 1 : 0 });

/** "all from one more call", "all from costlier calls: 46.9 µs, not 6.93 µs". */
function effectText(component: Component): string {
  const { slow_count: more, typical_count: usual, slow_mean: slow, typical_mean: typical, count_part: often, cost_part: costly } = component;
  const each = (mean: number, calls: number): string => time(calls > 0 ? mean / calls : 0);
  switch (effectOf(component)) {
    case "none":
      return "";
    case "count":
      return l10n.t("all from more calls: {0} per call, not {1}", more.toFixed(2), usual.toFixed(2));
    case "cost":
      return l10n.t("all from costlier calls: {0}, not {1}", each(slow, more), each(typical, usual));
    case "both":
      return l10n.t("{0} from more calls, {1} from costlier ones", difference(often), difference(costly));
  }
}

/** The slow calls that have this cause, if the selection can express it. */
function selectionOf({ kind, function: name, path, slow_count: more, typical_count: usual }: Component, { slow }: Explanation): Selection | undefined {
  const base: Selection = isSelected.value ? selection.value : { latency: [slow.low, null] };
  const last = path.at(-1)?.kind ?? kind;
  if (last === "blocked" || last === "preempted") return withPart(base, "waited", [{ reason: last }]);
  if (kind === "child" && name !== null) return withPart(base, "calls", [{ function: name, least: Math.max(1, usual >= 1 && more > usual ? Math.floor(usual) + 1 : 1) }]);
  return undefined;
}

const mostDots = 32;

function Presence({ component, explained }: { readonly component: Component; readonly explained: Explanation }): JSX.Element {
  const { slow_presence: slow, typical_presence: typical } = component;
  const dots = Math.min(mostDots, explained.slow.calls);
  const full = explained.slow.calls === 0 ? 0 : Math.round((slow / explained.slow.calls) * dots);
  return (
    <span>
      <span class="dots" aria-hidden="true">{Array.from({ length: dots }, (_, index) => <i key={index} class={index < full ? "y" : ""} />)}</span>
      {l10n.t("in {0} of {1} slow calls, {2} of {3} typical", count(slow), count(explained.slow.calls), count(typical), count(explained.typical.calls))}
    </span>
  );
}

function Cause({ component, number, explained }: { readonly component: Component; readonly number: number; readonly explained: Explanation }): JSX.Element {
  const { cause, delta, share: part, path, example, share_low: low, share_high: high } = component;
  const chosen = selectionOf(component, explained);
  const effect = effectText(component);
  const places = [component, ...path].filter(({ file }) => file !== "");
  const place = places.at(-1);
  const way = path.map(({ function: name }) => (name === null ? "" : shortName(name))).filter((name) => name !== "" && !cause.includes(name));
  return (
    <li>
      <span class="dim">{number}</span>
      <div>
        <p><b><Sentence text={cause} /></b>{way.length > 0 ? <span class="dim"> {way.join(" › ")}</span> : null}</p>
        <p class="facts"><Presence component={component} explained={explained} />{effect === "" ? null : <span>{effect}</span>}</p>
        <p class="acts">
          {place === undefined ? null : <SourceLink file={place.file} line={place.line} />}
          {example === null ? null : <Link small onClick={() => { showCall(example); }}>{l10n.t("Show an example call")}</Link>}
          {chosen === undefined ? null : <Link small onClick={() => { select(chosen); }}>{l10n.t("Select these {0} calls", count(component.slow_presence))}</Link>}
        </p>
      </div>
      <div class="eff" title={l10n.t("share between {0} and {1}", share(low), share(high))}>
        <b>{difference(delta)}</b> <span class="dim small">{l10n.t("a call")}</span>
        <br />
        <span class="share"><ShareBar part={Math.max(0, part)} states={wholeOf(stateOf(component))} /><span class="v">{share(part)}</span></span>
      </div>
    </li>
  );
}

function ComponentTable({ explained }: { readonly explained: Explanation }): JSX.Element {
  return (
    <DataTable
      label={l10n.t("Causes")}
      rows={explained.components}
      sorted={3}
      rowKey={({ cause, call_site: site }, index) => `${cause} ${site ?? ""} ${String(index)}`}
      columns={[
        { head: l10n.t("part"), left: true, cell: ({ cause }) => cause, value: ({ cause }) => cause },
        { head: l10n.t("slow call"), cell: (row) => time(row.slow_mean), value: (row) => row.slow_mean },
        { head: l10n.t("typical call"), cell: (row) => time(row.typical_mean), value: (row) => row.typical_mean },
        { head: l10n.t("difference"), cell: (row) => difference(row.delta), value: (row) => row.delta },
        { head: l10n.t("share"), cell: (row) => share(row.share), value: (row) => row.share },
        { head: l10n.t("from more calls"), optional: true, cell: (row) => (row.kind === "child" ? difference(row.count_part) : ""), value: (row) => row.count_part },
        { head: l10n.t("from costlier calls"), optional: true, cell: (row) => (row.kind === "child" ? difference(row.cost_part) : ""), value: (row) => row.cost_part },
        { head: l10n.t("in slow"), optional: true, cell: (row) => count(row.slow_presence), value: (row) => row.slow_presence },
        { head: l10n.t("in typical"), optional: true, cell: (row) => count(row.typical_presence), value: (row) => row.typical_presence },
      ]}
    />
  );
}

function Kinds({ explained }: { readonly explained: Explanation }): JSX.Element | null {
  const { kinds, components, slow } = explained;
  if (kinds.length === 0) return null;
  return (
    <Section name="kinds" title={kinds.length === 1 ? l10n.t("One kind of slow calls") : l10n.t("{0} kinds of slow calls", kinds.length)}>
      <div class="kinds">
        {kinds.map(({ calls, predicate, precision, recall, component, example }) => {
          const { [component]: main } = components;
          return (
            <div class="kind" key={predicate}>
              <span class="big">{main === undefined ? "" : difference(main.delta)}</span>
              <p><b>{predicate}</b></p>
              <p class="dim small">{l10n.t("{0} of {1} slow calls", count(calls), count(slow.calls))}{main === undefined ? "" : ` · ${labelOf(main)}`}</p>
              <p class="dim small">{l10n.t("{0} of the calls like this are such slow calls; it describes {1} of them", share(precision), share(recall))}</p>
              {example === null ? null : <p class="acts"><Link small onClick={() => { showCall(example); }}>{l10n.t("Show an example call")}</Link></p>}
            </div>
          );
        })}
      </div>
    </Section>
  );
}

function Variance({ explained }: { readonly explained: Explanation }): JSX.Element {
  return (
    <DataTable
      label={l10n.t("What makes the latency vary")}
      rows={explained.variance}
      sorted={2}
      rowKey={(row, index) => `${row.kind} ${String(index)}`}
      columns={[
        { head: l10n.t("part"), left: true, cell: ({ kind, function: name }) => (kind === "child" && name !== null ? shortName(name) : kind), value: ({ function: name }) => name ?? "" },
        { head: l10n.t("call site"), left: true, optional: true, cell: ({ file, line }) => <SourceLink file={file} line={line} />, text: ({ file, line }) => `${file}:${String(line)}` },
        { head: l10n.t("share of the variance"), cell: (row) => share(row.share), value: (row) => row.share },
      ]}
    />
  );
}

/** slow: what makes the slowest calls slow; variance: what makes the latency unpredictable. */
const question = signal<"slow" | "variance">("slow");

/** What the figures cannot show. */
function caveats({ few_slow_calls: few, gap_is_uncertain: uncertain, left_out: leftOut, slow }: Explanation, offCpuKnown: boolean): string[] {
  return [
    ...(offCpuKnown ? [] : [l10n.t("The recording does not contain when a thread waited, so waiting counts as the function's own time.")]),
    ...(few ? [l10n.t("{0} slow calls are too few for a conclusion.", count(slow.calls))] : []),
    ...(uncertain ? [l10n.t("The difference is hardly larger than the resolution.")] : []),
    ...(leftOut > 0 ? [leftOut === 1 ? l10n.t("1 call is not complete and not compared.") : l10n.t("{0} calls are not complete and not compared.", count(leftOut))] : []),
  ];
}

/** The latencies of the typical calls; only a limit where they are not resolved. */
function typicalText({ typical: { low, high }, resolution_ns: resolution }: Explanation): string {
  return high > resolution ? range(low, high) : l10n.t("< {0}, below what can be resolved", time(high + resolution));
}

export function WhyView({ shown: { report } }: { readonly shown: ShownFunction }): JSX.Element {
  const { value, failure } = explanation.value;
  if (value === undefined) return failure === undefined ? <p class="dim small first">{l10n.t("Comparing")}</p> : <p class="failed first" role="alert">{failure}</p>;
  const { explain: explained } = value;
  const { slow, typical, gap } = explained;
  const steps = stepsOf(explained);
  const shownCauses = steps.flatMap(({ component }) => (component === undefined ? [] : [explained.components[component]])).filter((each) => each !== undefined);
  const choices = [{ value: "slow", label: l10n.t("What makes them slow") }, { value: "variance", label: l10n.t("What makes it vary") }] as const;
  const sets = [{ value: "typical", label: l10n.t("Typical calls") }, { value: "others", label: l10n.t("All others") }] as const;
  return (
    <>
      <section class="first" data-section="why" aria-label={l10n.t("Why slow")}>
        <div class="head">
          <Segments choices={choices} chosen={question.value} onChoose={(next) => { question.value = next; }} />
          <span class="grow" />
          <span class="dim small">{l10n.t("against")}</span>
          <Segments choices={sets} chosen={againstRest.value ? "others" : "typical"} onChoose={(next) => { againstRest.value = next === "others"; }} />
        </div>
        {caveats(explained, report.recording.off_cpu_known).map((text) => <p key={text} class="warning" role="status">{text}</p>)}
        <p class="verdict">
          <b>{isSelected.value ? l10n.t("Selected calls") : l10n.t("Slow calls")}</b> ({count(slow.calls)}, {isSelected.value ? range(slow.low, slow.high) : range(slow.low, null)}) {l10n.t("against")}{" "}
          <b>{againstRest.value ? l10n.t("all others") : l10n.t("typical calls")}</b> ({count(typical.calls)}, {typicalText(explained)}): <b class="sel-text">{l10n.t("{0} a call", difference(gap))}</b>
        </p>
        {isSelected.value ? <p class="dim"><Sentence text={explained.sentence} strong={explained.main_cause} /></p> : null}
      </section>
      {question.value === "variance" ? (
        <Section name="variance" title={l10n.t("What makes the latency vary")}><Variance explained={explained} /></Section>
      ) : (
        <>
          <Section name="bridge" title={l10n.t("From typical to slow")} table={() => <ComponentTable explained={explained} />}>
            <Bridge explained={explained} steps={steps} />
          </Section>
          <Section name="causes" title={l10n.t("Causes")} right={<span class="small dim">{l10n.t("largest first")}</span>}>
            <ol class="causes">
              {shownCauses.map((component, index) => <Cause key={index} component={component} number={index + 1} explained={explained} />)}
            </ol>
          </Section>
          <WaitsSection slowTime={slow.mean * slow.calls} />
          <Kinds explained={explained} />
        </>
      )}
    </>
  );
}
