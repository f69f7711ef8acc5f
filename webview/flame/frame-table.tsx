// The frames of the flame graph as a table: each function once.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { DataTable } from "../base/data-table";
import { count, share, time } from "../base/format";
import { rowsOf } from "./frame-rows";
import type { FlameNode } from "./hierarchy";

export function FrameTable({ root }: { readonly root: FlameNode }): JSX.Element {
  const all = Math.max(1, root.value);
  return (
    <DataTable
      label={l10n.t("Flame graph")}
      rows={rowsOf(root)}
      sorted={2}
      rowKey={({ name }, index) => `${name} ${String(index)}`}
      columns={[
        { head: l10n.t("function"), left: true, className: "name", cell: ({ name }) => name, value: ({ name }) => name },
        { head: l10n.t("calls"), cell: ({ calls }) => count(calls), value: ({ calls }) => calls },
        { head: l10n.t("total"), cell: ({ total }) => time(total), value: ({ total }) => total },
        { head: l10n.t("itself"), cell: ({ self }) => time(self), value: ({ self }) => self },
        { head: l10n.t("share"), cell: ({ total }) => share(total / all), value: ({ total }) => total },
      ]}
    />
  );
}
