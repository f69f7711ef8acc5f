// All functions of the recording, most inclusive time first, with a filter by name.
import * as l10n from "@vscode/l10n";
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import type { FunctionSummary, FunctionsResult } from "../../extension/src/panel/panel-messages";
import { FunctionLink, Section } from "../base/controls";
import { DataTable, type Column } from "../base/data-table";
import { count, figure, time } from "../base/format";
import { baseName } from "../base/names";
import { RecordingLine } from "./header";
import { severeLoss } from "../base/recording-text";

const mostRows = 200;

export function FunctionsHeader({ functions: { recording, functions }, made }: { readonly functions: FunctionsResult; readonly made: number | undefined }): JSX.Element {
  const severe = severeLoss(recording);
  return (
    <header>
      <div class="top">
        <h1 tabIndex={-1}>{functions.length === 1 ? l10n.t("1 function") : l10n.t("{0} functions", count(functions.length))}</h1>
      </div>
      <RecordingLine recording={recording} made={made} />
      {severe === undefined ? null : <p class="warning" role="status">{severe}</p>}
    </header>
  );
}

function columnsOf(offCpuKnown: boolean): Column<FunctionSummary>[] {
  return [
    { head: l10n.t("function"), left: true, className: "name", cell: (row) => <FunctionLink of={row} />, text: ({ name }) => name, value: ({ name }) => name },
    { head: l10n.t("calls"), cell: ({ complete }) => count(complete), value: ({ complete }) => complete },
    { head: l10n.t("mean"), cell: ({ complete, mean, uncertainty }) => (complete > 0 ? figure(mean, uncertainty?.mean ?? 0) : "–"), value: ({ mean }) => mean },
    { head: l10n.t("inclusive"), cell: ({ inclusive, uncertainty }) => figure(inclusive, uncertainty?.inclusive ?? 0), value: ({ inclusive }) => inclusive },
    {
      head: l10n.t("self"),
      cell: ({ self, uncertainty }) => (self === null ? <span title={l10n.t("unknown: some callees were not measured")}>–</span> : figure(self, uncertainty?.self ?? 0)),
      text: ({ self }) => (self === null ? "–" : time(self)),
      value: ({ self }) => self ?? -1,
    },
    { head: l10n.t("off-CPU"), cell: ({ off_cpu: offCpu }) => (offCpuKnown ? time(offCpu) : "–"), value: ({ off_cpu: offCpu }) => offCpu },
    { head: l10n.t("incomplete"), optional: true, cell: ({ incomplete }) => count(incomplete), value: ({ incomplete }) => incomplete },
    { head: l10n.t("unwound"), optional: true, cell: ({ unwound }) => count(unwound), value: ({ unwound }) => unwound },
    { head: l10n.t("binary"), optional: true, left: true, cell: ({ binary }) => <span class="dim" title={binary}>{baseName(binary)}</span>, text: ({ binary }) => binary, value: ({ binary }) => baseName(binary) },
  ];
}

export function FunctionsTable({ functions: { recording, functions } }: { readonly functions: FunctionsResult }): JSX.Element {
  const [filter, setFilter] = useState("");
  const wanted = filter.toLowerCase();
  const found = functions.filter(({ name }) => name.toLowerCase().includes(wanted));
  const rest = found.length - mostRows;
  const input =
    functions.length > 10 ? (
      <span class="find">
        <input
          type="search"
          placeholder={l10n.t("Filter by name")}
          aria-label={l10n.t("Filter by name")}
          value={filter}
          onInput={(event) => { setFilter((event.currentTarget).value); }}
        />
      </span>
    ) : null;
  return (
    <Section name="functions" title={l10n.t("Functions")} right={input}>
      <DataTable
        label={l10n.t("Functions")}
        columns={columnsOf(recording.off_cpu_known)}
        rows={found.slice(0, mostRows)}
        sorted={3}
        rowKey={({ name, binary, address }) => `${binary} ${address ?? name}`}
      />
      {rest > 0 ? <p class="dim small">{l10n.t("{0} more. Filter by name to see them.", count(rest))}</p> : null}
    </Section>
  );
}
