// Tables that only some reports have: inlined executions, the functions of one name, the calls before a slow one.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { latencyFigure } from "../../extension/src/base/latency-text";
import type { CallRow, Report, SlowCall } from "../../extension/src/panel/panel-messages";
import { FunctionLink, Link, Section, SourceLink } from "../base/controls";
import { DataTable } from "../base/data-table";
import { count, figure, time } from "../base/format";
import { post } from "../base/host";

const unbroken = (text: string): string => text.replaceAll(" ", "\u00a0");

export function InlinedTable({ report }: { readonly report: Report }): JSX.Element | null {
  if (report.may_be_inlined === true) {
    return (
      <p class="inlined">
        {l10n.t("The compiler also inlined this function.")}{" "}
        <Link title={l10n.t("Decode the trace again")} onClick={() => { post({ type: "function", function: report.function, inlined: true }); }}>
          {l10n.t("Count inlined executions")}
        </Link>
      </p>
    );
  }
  const { inlined = [] } = report;
  if (inlined.length === 0) return null;
  type Place = (typeof inlined)[number];
  const text = ({ latency }: Place, name: "mean" | "p99" | "total"): string => (latency === null ? "" : unbroken(latencyFigure(latency, name)));
  return (
    <Section name="inlined" title={l10n.t("Inlined executions")}>
      <DataTable
        label={l10n.t("Inlined executions")}
        rows={inlined}
        rowKey={({ address }) => address}
        columns={[
          { head: l10n.t("function"), left: true, className: "name", cell: (row) => row.function, value: (row) => row.function },
          { head: l10n.t("line"), left: true, cell: (row) => <SourceLink file={row.file} line={row.line} fallback={row.address} />, text: (row) => `${row.file}:${String(row.line)}` },
          { head: l10n.t("executions"), cell: ({ calls }) => (calls === null ? l10n.t("not countable") : count(calls.complete)), value: ({ calls }) => calls?.complete ?? -1 },
          { head: l10n.t("mean"), cell: (row) => text(row, "mean"), value: ({ latency }) => latency?.mean ?? 0 },
          { head: "p99", cell: (row) => text(row, "p99"), value: ({ latency }) => latency?.p99 ?? 0 },
          { head: l10n.t("total"), cell: (row) => text(row, "total"), value: ({ latency }) => latency?.total ?? 0 },
          { head: l10n.t("uncertainty"), cell: ({ latency }) => (latency === null ? "" : `± ${time(latency.resolution)}`) },
        ]}
      />
    </Section>
  );
}

export function InstancesTable({ report: { instances } }: { readonly report: Report }): JSX.Element | null {
  if (instances === undefined) return null;
  return (
    <Section name="instances" title={l10n.t("Functions")}>
      <DataTable
        label={l10n.t("Functions")}
        rows={instances}
        rowKey={({ name, address }) => `${name} ${address ?? ""}`}
        columns={[
          { head: l10n.t("function"), left: true, className: "name", cell: (row) => <FunctionLink of={row} />, text: ({ name }) => name, value: ({ name }) => name },
          { head: l10n.t("declaration"), left: true, cell: (row) => <SourceLink file={row.file} line={row.line} fallback={row.address ?? undefined} />, text: ({ file, line }) => `${file}:${String(line)}` },
          { head: l10n.t("calls"), cell: ({ calls }) => count(calls.complete), value: ({ calls }) => calls.complete },
          { head: l10n.t("mean"), cell: ({ latency }) => unbroken(latencyFigure(latency, "mean")), value: ({ latency }) => latency.mean },
          { head: "p99", cell: ({ latency }) => unbroken(latencyFigure(latency, "p99")), value: ({ latency }) => latency.p99 },
          { head: l10n.t("total"), cell: ({ latency }) => unbroken(latencyFigure(latency, "total")), value: ({ latency }) => latency.total },
        ]}
      />
    </Section>
  );
}

/** "5 µs to 2 ms": the end of the call was not seen. */
function boundsText({ bounds }: CallRow): string {
  const [least, most] = bounds ?? [0, null];
  const from = time(least ?? 0);
  return most === null || most === undefined ? l10n.t("at least {0}", from) : l10n.t("{0} to {1}", from, time(most));
}

/** The call that was caught, and the calls before it on its thread. */
export function SlowCallView({ slowCall }: { readonly slowCall: SlowCall }): JSX.Element {
  const { tid, latency, offCpu, threshold, start, before } = slowCall;
  const state = ({ state: ended }: CallRow): string => (ended === "complete" ? "" : ended === "incomplete" ? l10n.t("incomplete") : l10n.t("unwound"));
  return (
    <>
      <p class="caught">
        {l10n.t(
          "A call on thread {0} took {1}, longer than {2}. For {3} of this time, the thread did not run. It is selected.",
          tid, time(latency ?? 0), time(threshold), time(offCpu),
        )}
      </p>
      <Section name="before" title={l10n.t("Calls before it on the same thread")}>
        <DataTable
          label={l10n.t("Calls before it on the same thread")}
          rows={before}
          rowKey={(call) => String(call.start)}
          columns={[
            { head: l10n.t("start"), cell: (call) => l10n.t("{0} before", time(start - call.start)), value: (call) => call.start },
            { head: l10n.t("latency"), cell: (call) => (call.latency === null ? boundsText(call) : figure(call.latency, call.within)), value: (call) => call.latency ?? 0 },
            { head: l10n.t("off-CPU"), cell: (call) => time(call.offCpu), value: (call) => call.offCpu },
            { head: l10n.t("self"), cell: (call) => (call.self === null ? "–" : time(call.self)), value: (call) => call.self ?? 0 },
            { head: l10n.t("state"), left: true, cell: state, value: state },
          ]}
        />
      </Section>
    </>
  );
}
