// The tab Overview: figures, histogram, latency over time, and the tables of callers, callees and threads.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { distribution, selectedReport } from "../state/figures";
import { isSelected, type ShownFunction } from "../state/store";
import { FiguresTable } from "./figures-table";
import { Histogram } from "./histogram";
import { InlinedTable, InstancesTable, SlowCallView } from "./more-tables";
import { CalleesTable, CallersTable, ThreadsTable } from "./related-tables";
import { Scatter } from "./scatter";

export function Overview({ shown: { report, slowCall } }: { readonly shown: ShownFunction }): JSX.Element {
  const data = distribution.value.value;
  const selected = isSelected.value ? selectedReport.value.value : undefined;
  return (
    <>
      <FiguresTable report={report} selected={selected} />
      {slowCall === undefined ? null : <SlowCallView slowCall={slowCall} />}
      {data === undefined || data.total.calls === 0 || report.recording.resolution_ns === null ? null : (
        <>
          <Histogram data={data} report={report} />
          <Scatter data={data} report={report} />
        </>
      )}
      {report.recording.off_cpu_known ? null : <p class="dim small">{l10n.t("The recording does not contain when a thread waited.")}</p>}
      <CallersTable report={report} selected={selected} />
      <CalleesTable report={report} selected={selected} />
      <InlinedTable report={report} />
      <InstancesTable report={report} />
      <ThreadsTable report={report} selected={selected} />
    </>
  );
}
