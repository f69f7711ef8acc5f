// The figures of one bar of the timeline, and all bars as a table.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { Sentence, SourceLink } from "../base/controls";
import { DataTable } from "../base/data-table";
import { briefFigure, time } from "../base/format";
import { shortName, withoutParameters } from "../base/names";
import { waitText, type Bar } from "./layout";

/** Where the bar is in the source: the call site, or where it waited. */
export function placeOf({ call, wait, meanwhile }: Bar): { readonly file: string; readonly line: number } {
  return wait ?? call ?? meanwhile ?? { file: "", line: 0 };
}

function nameOf({ call, wait, meanwhile, text }: Bar): string {
  if (wait !== undefined) return text;
  return withoutParameters(call?.function ?? meanwhile?.function ?? text);
}

export function BarCard({ bar, offCpuKnown }: { readonly bar: Bar; readonly offCpuKnown: boolean }): JSX.Element {
  const { call, wait, meanwhile } = bar;
  const { file, line } = placeOf(bar);
  return (
    <>
      <b class={wait === undefined ? "mono" : ""}>{nameOf(bar)}</b>
      {file === "" ? null : <> · <SourceLink file={file} line={line} /></>}
      {wait === undefined || (wait.function === "" && wait.waker === null) ? null : (
        <p>
          {wait.function === "" ? null : <>{l10n.t("in")} <code>{shortName(wait.function)}</code>{wait.called === "" ? "" : <>, <code>{wait.called}</code></>}</>}
          {wait.waker === null || wait.waker.text === "" ? null : <>{wait.function === "" ? "" : "; "}<Sentence text={wait.waker.text} /></>}
        </p>
      )}
      {meanwhile === undefined ? null : <p>{l10n.t("on thread {0}", meanwhile.thread)}</p>}
      {bar.state === "lost" ? <p>{l10n.t("Calls in this time are not known.")}</p> : null}
      <dl>
        <dt>{l10n.t("at")}</dt>
        <dd>{bar.from < 0 ? l10n.t("{0} before", time(-bar.from)) : time(bar.from)}</dd>
        {call === undefined ? null : (
          <>
            <dt>{l10n.t("latency")}</dt>
            <dd>{briefFigure(call.latency, call.resolution)}</dd>
            <dt>{l10n.t("off-CPU")}</dt>
            <dd>{offCpuKnown ? time(call.off_cpu) : "–"}</dd>
            <dt>{l10n.t("self")}</dt>
            <dd>{briefFigure(call.self, call.resolution)}</dd>
          </>
        )}
        {wait === undefined ? null : <><dt>{l10n.t("off-CPU")}</dt><dd>{time(wait.duration)}</dd></>}
      </dl>
    </>
  );
}

interface Row {
  readonly of: string;
  readonly bar: Bar;
}

/** `groups`: each with the bars of one call or thread. */
export function BarTable({ groups }: { readonly groups: readonly { readonly title: string; readonly bars: readonly Bar[] }[] }): JSX.Element {
  const rows = groups.flatMap(({ title, bars }): Row[] => bars.map((bar) => ({ of: title, bar })));
  const latency = ({ bar: { call, wait, from, to } }: Row): number => call?.latency ?? wait?.duration ?? to - from;
  return (
    <DataTable
      label={l10n.t("Timeline")}
      rows={rows}
      rowKey={(_, index) => String(index)}
      columns={[
        { head: l10n.t("call"), left: true, optional: true, className: "dim", cell: ({ of }) => of, value: ({ of }) => of },
        { head: l10n.t("part"), left: true, className: "name", cell: ({ bar }) => `${"\u00a0".repeat(2 * bar.level)}${bar.wait === undefined ? (bar.state === "lost" ? bar.text : shortName(nameOf(bar))) : waitText(bar.wait)}`, value: ({ bar }) => nameOf(bar) },
        { head: l10n.t("at"), cell: ({ bar }) => (bar.from < 0 ? `\u2212${time(-bar.from)}` : time(bar.from)), value: ({ bar }) => bar.from },
        { head: l10n.t("latency"), cell: (row) => briefFigure(latency(row), row.bar.call?.resolution ?? 0), value: latency },
        { head: l10n.t("off-CPU"), cell: ({ bar }) => time(bar.call?.off_cpu ?? bar.wait?.duration ?? 0), value: ({ bar }) => bar.call?.off_cpu ?? bar.wait?.duration ?? 0 },
        { head: l10n.t("source"), left: true, optional: true, cell: ({ bar }) => <SourceLink {...placeOf(bar)} />, text: ({ bar }) => { const { file, line } = placeOf(bar); return file === "" ? "" : `${file}:${String(line)}`; } },
        { head: l10n.t("ended by"), left: true, optional: true, cell: ({ bar }) => <Sentence text={bar.wait?.waker?.text ?? ""} />, text: ({ bar }) => bar.wait?.waker?.text ?? "" },
      ]}
    />
  );
}
