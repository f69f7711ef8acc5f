// The tab Change: the verdict, both distributions of latency, and the functions with the intervals of their differences.
import * as l10n from "@vscode/l10n";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { DiffResult } from "../../extension/src/panel/panel-messages";
import { Button, FunctionLink, Link, Section, Segments } from "../base/controls";
import { DataTable } from "../base/data-table";
import { change, count, time } from "../base/format";
import { post } from "../base/host";
import { distribution } from "../state/figures";
import { baseline, type ShownFunction } from "../state/store";
import { when } from "../base/recording-text";
import { resolutionOf } from "../overview/resolved";
import { compared } from "./change-state";
import { ComparedLatency } from "./compared-latency";

type ChangedFunction = DiffResult["functions"][number];
type JudgedFigure = ChangedFunction["difference"]["mean"];

const signs = { faster: "↓", slower: "↑", no_change: "=", cannot_tell: "?" } as const;

function verdictText({ verdict }: JudgedFigure): string {
  return { faster: l10n.t("faster"), slower: l10n.t("slower"), no_change: l10n.t("no change"), cannot_tell: l10n.t("cannot tell") }[verdict];
}

const intervalText = ({ low_percent, high_percent }: JudgedFigure): string => `[${change(low_percent / 100)}, ${change(high_percent / 100)}]`;

/** The interval on an axis from −100 % to +50 %; what is beyond is at its end. */
function IntervalMark({ judged: { percent, low_percent, high_percent, verdict } }: { readonly judged: JudgedFigure }): JSX.Element {
  const [zero, half] = [104, 100];
  const at = (value: number): number => zero + Math.max(-1, Math.min(0.5, value / 100)) * half;
  return (
    <svg class="interval" width="160" height="24" aria-hidden="true">
      <path class="grid" d={`M${String(at(-100))} 0v24M${String(at(50))} 0v24`} />
      <path class="axis" d={`M${String(zero)} 0v24`} />
      <path class="span" d={`M${String(at(low_percent))} 12H${String(at(high_percent))}M${String(at(low_percent))} 8v8M${String(at(high_percent))} 8v8`} />
      <circle class={verdict} cx={at(percent)} cy="12" r="3.5" />
    </svg>
  );
}

const figure = signal<"mean" | "p99">("mean");

function FunctionsTable({ functions }: { readonly functions: readonly ChangedFunction[] }): JSX.Element {
  const judged = (row: ChangedFunction): JudgedFigure => row.difference[figure.value];
  return (
    <DataTable
      label={l10n.t("Functions")}
      rows={functions}
      rowKey={({ name, address }) => `${name} ${address ?? ""}`}
      columns={[
        { head: l10n.t("function"), left: true, className: "name", cell: (row) => <FunctionLink of={row} />, text: ({ name }) => name, value: ({ name }) => name },
        { head: l10n.t("calls before"), optional: true, cell: ({ base }) => count(base.calls.complete), value: ({ base }) => base.calls.complete },
        { head: l10n.t("calls now"), optional: true, cell: ({ recording }) => count(recording.calls.complete), value: ({ recording }) => recording.calls.complete },
        { head: l10n.t("base"), cell: (row) => time(judged(row).base_ns), value: (row) => judged(row).base_ns },
        { head: l10n.t("now"), cell: (row) => time(judged(row).recording_ns), value: (row) => judged(row).recording_ns },
        { head: l10n.t("change"), cell: (row) => change(judged(row).percent / 100), value: (row) => judged(row).percent },
        { head: l10n.t("95 % interval"), optional: true, className: "dim small", cell: (row) => intervalText(judged(row)) },
        { head: l10n.t("−100 % to +50 %"), optional: true, left: true, cell: (row) => <IntervalMark judged={judged(row)} />, text: () => "" },
        { head: l10n.t("verdict"), left: true, className: "verdict-cell", cell: (row) => `${signs[judged(row).verdict]} ${verdictText(judged(row))}`, value: (row) => judged(row).verdict },
      ]}
    />
  );
}

function Verdict({ name, judged }: { readonly name: string; readonly judged: JudgedFigure }): JSX.Element {
  return (
    <p class="verdict">
      {name} {time(judged.base_ns)} → {time(judged.recording_ns)}, <b>{change(judged.percent / 100)}</b> <span class="dim">{intervalText(judged)}</span>, <b>{signs[judged.verdict]} {verdictText(judged)}</b>
    </p>
  );
}

export function ChangeView({ shown: { report } }: { readonly shown: ShownFunction }): JSX.Element {
  const { value: base } = baseline;
  const choose = (): void => { post({ type: "chooseBaseline" }); };
  if (base === undefined) {
    return (
      <section class="first">
        <p>{l10n.t("Compare this recording with an earlier one, for example from before a change of the code.")}</p>
        <p><Button primary onClick={choose}>{l10n.t("Choose a Recording")}</Button></p>
      </section>
    );
  }
  const { changes, before, failure } = compared.value;
  if (failure !== undefined) return <p class="failed first" role="alert">{failure}</p>;
  if (changes === undefined) return <p class="dim small first">{l10n.t("Comparing")}</p>;
  const { function: identity, children } = report;
  const own = changes.functions.find(({ name }) => name === identity.name);
  const wanted = new Set([identity.name, ...children.map(({ name }) => name)]);
  const rows = changes.functions.filter(({ name }) => wanted.has(name)).sort((a, b) => Number(b.name === identity.name) - Number(a.name === identity.name));
  const now = distribution.value.value;
  const choices = [{ value: "mean", label: l10n.t("Mean") }, { value: "p99", label: "p99" }] as const;
  return (
    <>
      <section class="first" data-section="change" aria-label={l10n.t("Change")}>
        {own === undefined ? (
          <p class="verdict">{l10n.t("The other recording has no calls of this function to compare.")}</p>
        ) : (
          <>
            <Verdict name="p99" judged={own.difference.p99} />
            <Verdict name={l10n.t("mean")} judged={own.difference.mean} />
          </>
        )}
        <p class="dim small">
          {l10n.t("Base: {0}, {1}", base.name, when(base.made, Date.now()))}
          {own === undefined ? "" : ` · ${l10n.t("{0} calls", count(own.base.calls.complete))}`} <Link small onClick={choose}>{l10n.t("Choose another")}</Link>
          {own === undefined ? "" : ` · ${l10n.t("Now: {0} calls", count(own.recording.calls.complete))}`} · {l10n.t("in brackets: 95 % confidence")}
        </p>
        {changes.notes.map(({ text }) => <p key={text} class="warning" role="note">{text}</p>)}
      </section>
      {before === undefined || now === undefined || before.total.calls === 0 ? null : <ComparedLatency before={before} now={now} resolution={resolutionOf(report)} />}
      {rows.length === 0 ? null : (
        <Section name="changes" title={l10n.t("Functions")} right={<Segments choices={choices} chosen={figure.value} onChoose={(value) => { figure.value = value; }} />}>
          <FunctionsTable functions={rows} />
        </Section>
      )}
    </>
  );
}
