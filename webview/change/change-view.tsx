// The tab Change: the verdict, both distributions of latency, and the functions with the intervals of their differences.
import * as l10n from "@vscode/l10n";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { ChangedFunction, JudgedFigure } from "../../extension/src/panel/panel-messages";
import { Button, FunctionLink, Link, Section, Segments } from "../base/controls";
import { DataTable } from "../base/data-table";
import { change, count, time } from "../base/format";
import { post } from "../base/host";
import { distribution } from "../state/figures";
import { baseline, type ShownFunction } from "../state/store";
import { when } from "../base/recording-text";
import { compared } from "./change-state";
import { ComparedLatency } from "./compared-latency";

const signs = { faster: "↓", slower: "↑", no_change: "=", cannot_tell: "?" } as const;

function verdictText({ verdict }: JudgedFigure): string {
  return { faster: l10n.t("faster"), slower: l10n.t("slower"), no_change: l10n.t("no change"), cannot_tell: l10n.t("cannot tell") }[verdict];
}

const intervalText = ({ lowPercent, highPercent }: JudgedFigure): string => `[${change(lowPercent / 100)}, ${change(highPercent / 100)}]`;

/** The interval on an axis from −100 % to +50 %; what is beyond is at its end. */
function IntervalMark({ judged: { percent, lowPercent, highPercent, verdict } }: { readonly judged: JudgedFigure }): JSX.Element {
  const [zero, half] = [104, 100];
  const at = (value: number): number => zero + Math.max(-1, Math.min(0.5, value / 100)) * half;
  return (
    <svg class="interval" width="160" height="24" aria-hidden="true">
      <path class="grid" d={`M${String(at(-100))} 0v24M${String(at(50))} 0v24`} />
      <path class="axis" d={`M${String(zero)} 0v24`} />
      <path class="span" d={`M${String(at(lowPercent))} 12H${String(at(highPercent))}M${String(at(lowPercent))} 8v8M${String(at(highPercent))} 8v8`} />
      <circle class={verdict} cx={at(percent)} cy="12" r="3.5" />
    </svg>
  );
}

const figure = signal<"mean" | "p99">("mean");

function FunctionsTable({ functions }: { readonly functions: readonly ChangedFunction[] }): JSX.Element {
  const judged = (row: ChangedFunction): JudgedFigure => row[figure.value];
  return (
    <DataTable
      label={l10n.t("Functions")}
      rows={functions}
      rowKey={({ name, address }) => `${name} ${address ?? ""}`}
      columns={[
        { head: l10n.t("function"), left: true, className: "name", cell: (row) => <FunctionLink of={row} />, text: ({ name }) => name, value: ({ name }) => name },
        { head: l10n.t("calls before"), optional: true, cell: ({ baseCalls }) => count(baseCalls), value: ({ baseCalls }) => baseCalls },
        { head: l10n.t("calls now"), optional: true, cell: ({ nowCalls }) => count(nowCalls), value: ({ nowCalls }) => nowCalls },
        { head: l10n.t("base"), cell: (row) => time(judged(row).base), value: (row) => judged(row).base },
        { head: l10n.t("now"), cell: (row) => time(judged(row).now), value: (row) => judged(row).now },
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
      {name} {time(judged.base)} → {time(judged.now)}, <b>{change(judged.percent / 100)}</b> <span class="dim">{intervalText(judged)}</span>, <b>{signs[judged.verdict]} {verdictText(judged)}</b>
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
            <Verdict name="p99" judged={own.p99} />
            <Verdict name={l10n.t("mean")} judged={own.mean} />
          </>
        )}
        <p class="dim small">
          {l10n.t("Base: {0}, {1}", base.name, when(base.made, Date.now()))}
          {own === undefined ? "" : ` · ${l10n.t("{0} calls", count(own.baseCalls))}`} <Link small onClick={choose}>{l10n.t("Choose another")}</Link>
          {own === undefined ? "" : ` · ${l10n.t("Now: {0} calls", count(own.nowCalls))}`} · {l10n.t("in brackets: 95 % confidence")}
        </p>
        {changes.notes.filter(Boolean).map((text) => <p key={text} class="warning" role="note">{text}</p>)}
      </section>
      {before === undefined || now === undefined || before.total.calls === 0 ? null : <ComparedLatency before={before} now={now} />}
      {rows.length === 0 ? null : (
        <Section name="changes" title={l10n.t("Functions")} right={<Segments choices={choices} chosen={figure.value} onChoose={(value) => { figure.value = value; }} />}>
          <FunctionsTable functions={rows} />
        </Section>
      )}
    </>
  );
}
