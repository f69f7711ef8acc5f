// The tables of callers, callees and threads, which share their columns. A click on a row selects its calls.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { errorOf, latencyFigure } from "../../extension/src/base/latency-text";
import type { Report, Selection } from "../../extension/src/panel/panel-messages";
import { DeeperLink, FunctionLink, menuContext, Section, SourceLink } from "../base/controls";
import { DataTable, ShareBar, type Column, type RowActions } from "../base/data-table";
import { briefFigure, count, share, time } from "../base/format";
import { hasCaller, hasThread, toggleCaller, toggleThread, withPart } from "../state/selection";
import { isSelected, select, selection } from "../state/store";
import { statesOf } from "./figures-table";

type Related = Report["callers"][number];
type Thread = Report["threads"][number];

/** What callers, callees and threads have in common. */
interface Row {
  readonly calls: number;
  readonly latency: Report["latency"];
  readonly off_cpu: Report["off_cpu"];
}

const unbroken = (text: string): string => text.replaceAll(" ", "\u00a0");

/** The columns of figures. `selectedCalls`: how many of the calls of a row are selected. */
function figureColumns<R extends Row>(report: Report, selectedCalls: (row: R) => number): Column<R>[] {
  const isTimed = report.recording.resolution_ns !== null;
  const total = report.latency.total > 0 ? report.latency.total : 1;
  type Name = "mean" | "p99" | "total";
  const text = (row: R, name: Name): string => (isTimed ? briefFigure(row.latency[name], errorOf(row.latency, name)) : l10n.t("unknown"));
  const cell = (row: R, name: Name): JSX.Element => <span title={isTimed ? unbroken(latencyFigure(row.latency, name)) : ""}>{text(row, name)}</span>;
  const partOf = (row: R): number => row.latency.total / total;
  return [
    { head: l10n.t("calls"), cell: (row) => count(row.calls), value: (row) => row.calls },
    { head: l10n.t("selected"), className: "sel-text", cell: (row) => (isSelected.value ? count(selectedCalls(row)) : "–"), value: selectedCalls },
    { head: l10n.t("mean"), cell: (row) => cell(row, "mean"), text: (row) => text(row, "mean"), value: (row) => row.latency.mean },
    { head: "p99", optional: true, cell: (row) => (row.calls < 100 ? <span title={l10n.t("Needs {0} calls", 100)}>–</span> : cell(row, "p99")), text: (row) => (row.calls < 100 ? "–" : text(row, "p99")), value: (row) => row.latency.p99 },
    { head: l10n.t("total"), cell: (row) => cell(row, "total"), text: (row) => text(row, "total"), value: (row) => row.latency.total },
    {
      head: l10n.t("share"),
      cell: (row) => <span class="share" title={offCpuText(report, row)}><ShareBar part={partOf(row)} states={statesOf(row)} /><span class="v">{share(partOf(row))}</span></span>,
      text: (row) => share(partOf(row)),
      value: partOf,
    },
  ];
}

function offCpuText(report: Report, row: Row): string {
  if (!report.recording.off_cpu_known) return l10n.t("off-CPU is unknown");
  return l10n.t("off-CPU {0}: blocked {1}, preempted {2}", time(row.off_cpu.total), time(row.off_cpu.blocked), time(row.off_cpu.preempted));
}

const keyOf = (row: Related): string => `${row.name} ${row.address ?? ""} ${row.call_site ?? ""} ${String(row.line)}`;

/** Returns how many calls the same row has in the report of the selected calls. */
function countsOf(rows: readonly Related[] | undefined): (row: Related) => number {
  const counts = new Map((rows ?? []).map((row) => [keyOf(row), row.calls]));
  return (row) => counts.get(keyOf(row)) ?? 0;
}

/** Names a function in a condition of the selection. */
export function functionName({ name, address }: { readonly name: string; readonly address: string | null }): string {
  return address === null ? name : `${name}@${address}`;
}

function nameColumns(head: string, deeper: boolean): Column<Related>[] {
  return [
    {
      head,
      left: true,
      className: "name",
      cell: (row) => <><FunctionLink of={row} />{deeper && row.address !== null ? <> <DeeperLink of={row} /></> : null}</>,
      text: (row) => row.name,
      value: (row) => row.name,
    },
    {
      head: l10n.t("call site"),
      left: true,
      optional: true,
      cell: (row) => <SourceLink file={row.file} line={row.line} fallback={row.call_site ?? undefined} />,
      text: (row) => (row.file === "" ? (row.call_site ?? "") : `${row.file}:${String(row.line)}`),
      value: (row) => `${row.file}:${String(row.line).padStart(8)}`,
    },
  ];
}

interface Props {
  readonly report: Report;
  readonly selected: Report | undefined;
}

export function CallersTable({ report, selected }: Props): JSX.Element {
  const conditionOf = (row: Related): Parameters<typeof hasCaller>[1] => ({ function: functionName(row), file: row.file, line: row.line });
  const actions = (row: Related): RowActions =>
    row.address === null
      ? {}
      : {
          title: l10n.t("Click: select these calls. Alt+click: all others."),
          picked: hasCaller(selection.value, conditionOf(row)),
          onPick: (not) => { select(toggleCaller(selection.value, conditionOf(row), not)); },
        };
  return (
    <Section name="callers" title={l10n.t("Callers")}>
      <DataTable
        className="even"
        label={l10n.t("Callers")}
        columns={[...nameColumns(l10n.t("function"), false), ...figureColumns<Related>(report, countsOf(selected?.callers))]}
        rows={report.callers}
        sorted={6}
        rowKey={keyOf}
        actions={actions}
      />
    </Section>
  );
}

function pickCalls(row: Related, not: boolean): Selection {
  const name = functionName(row);
  const others = (selection.value.calls ?? []).filter((each) => each.function !== name);
  const had = others.length !== (selection.value.calls ?? []).length;
  return withPart(selection.value, "calls", had ? others : [...others, not ? { function: name, least: 0, most: 0 } : { function: name, least: 1 }]);
}

export function CalleesTable({ report, selected }: Props): JSX.Element {
  const probes = report.recording.backend === "uprobe";
  const { self, latency } = report;
  const actions = (row: Related): RowActions =>
    row.address === null
      ? {}
      : {
          title: l10n.t("Click: select the calls that call it. Alt+click: those that do not."),
          picked: (selection.value.calls ?? []).some((each) => each.function === functionName(row)),
          onPick: (not) => { select(pickCalls(row, not)); },
          ...(probes ? { context: menuContext(row) } : {}),
        };
  const own =
    self.total === null ? undefined : (
      <tr>
        <td class="dim l">{l10n.t("its own instructions")}</td>
        <td class="opt" />
        <td />
        <td />
        <td>{briefFigure(self.mean ?? 0, self.uncertainty?.mean ?? 0)}</td>
        <td class="opt" />
        <td>{briefFigure(self.total, self.uncertainty?.total ?? 0)}</td>
        <td>
          <span class="share">
            <ShareBar part={self.total / Math.max(1, latency.total)} states={{ on: 1, blocked: 0, preempted: 0 }} />
            <span class="v">{share(self.total / Math.max(1, latency.total))}</span>
          </span>
        </td>
      </tr>
    );
  return (
    <Section name="children" title={l10n.t("Callees")}>
      <DataTable
        className="even"
        label={l10n.t("Callees")}
        columns={[...nameColumns(l10n.t("function"), probes), ...figureColumns<Related>(report, countsOf(selected?.children))]}
        rows={report.children}
        sorted={6}
        rowKey={keyOf}
        actions={actions}
        last={own}
      />
    </Section>
  );
}

export function ThreadsTable({ report, selected }: Props): JSX.Element {
  const counts = new Map((selected?.threads ?? []).map(({ tid, calls }) => [tid, calls]));
  const hasApart = report.threads.some(({ incomplete, unwound, gaps }) => incomplete + unwound + gaps > 0);
  const apart = ({ incomplete, unwound, gaps, lost_ns: lost }: Thread): string =>
    [
      incomplete > 0 ? l10n.t("{0} incomplete", count(incomplete)) : "",
      unwound > 0 ? l10n.t("{0} unwound", count(unwound)) : "",
      gaps > 0 ? l10n.t("{0} lost", time(lost)) : "",
    ].filter(Boolean).join(" · ");
  const columns: Column<Thread>[] = [
    { head: l10n.t("thread"), left: true, className: "name", cell: ({ comm }) => comm, value: ({ comm }) => comm },
    { head: l10n.t("id"), left: true, optional: true, cell: ({ tid }) => <span class="dim">{tid}</span>, text: ({ tid }) => String(tid), value: ({ tid }) => tid },
    ...figureColumns<Thread>(report, ({ tid }) => counts.get(tid) ?? 0),
  ];
  if (hasApart) columns.splice(2, 0, { head: l10n.t("apart"), left: true, optional: true, className: "small dim", cell: apart, value: apart });
  return (
    <Section name="threads" title={l10n.t("Threads")}>
      <DataTable
        className={hasApart ? "" : "even"}
        label={l10n.t("Threads")}
        columns={columns}
        rows={report.threads}
        sorted={columns.length - 2}
        rowKey={({ tid }) => String(tid)}
        actions={({ tid }) => ({
          title: l10n.t("Click: select these calls. Alt+click: all others."),
          picked: hasThread(selection.value, tid),
          onPick: (not) => { select(toggleThread(selection.value, tid, not)); },
        })}
      />
    </Section>
  );
}
