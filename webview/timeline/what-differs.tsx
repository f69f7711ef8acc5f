// The table below the timeline: what the call did longer or more often than the one that it is compared with.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { Section, Sentence } from "../base/controls";
import { DataTable } from "../base/data-table";
import { briefFigure, count, difference } from "../base/format";
import { shortName } from "../base/names";
import type { Part } from "./call-tree";
import { differencesOf, type Difference } from "./differences";
import { waitText } from "./layout";

const times = (calls: number): string => (calls === 1 ? l10n.t("once") : l10n.t("{0} times", count(calls)));

function noteOf({ name, calls, otherCalls, wait, waiting, time }: Difference, isCompared: boolean): string {
  const notes: string[] = [];
  if (isCompared && name !== undefined && calls !== otherCalls) {
    if (otherCalls === 0) notes.push(l10n.t("called {0}, not called there", times(calls)));
    else if (calls === 0) notes.push(l10n.t("not called, {0} there", times(otherCalls)));
    else notes.push(l10n.t("{0} calls, {1} there", count(calls), count(otherCalls)));
  }
  // What little of it is waiting explains nothing.
  if (wait?.wait !== undefined && waiting > 0.05 * time) notes.push([waitText(wait.wait), wait.wait.waker?.text ?? ""].filter(Boolean).join(", "));
  return notes.join("; ");
}

export function WhatDiffers({ one, other, otherTitle }: { readonly one: Part; readonly other: Part | undefined; readonly otherTitle: string }): JSX.Element {
  const isCompared = other !== undefined;
  const name = (row: Difference): string => (row.name === undefined ? l10n.t("everything else") : row.name === "" ? l10n.t("unknown code") : shortName(row.name));
  const theirs = (row: Difference): string => (row.name !== undefined && row.otherCalls === 0 ? "–" : briefFigure(Math.max(0, row.otherTime), row.otherResolution));
  const delta = ({ time, otherTime, resolution, otherResolution }: Difference): string => difference(time - otherTime, resolution + otherResolution);
  return (
    <Section name="differences" title={isCompared ? l10n.t("What differs") : l10n.t("Its parts")}>
      <DataTable
        label={l10n.t("What differs")}
        rows={differencesOf(one, other)}
        rowKey={(row) => row.name ?? "rest"}
        columns={[
          { head: l10n.t("part"), left: true, className: "name", cell: name, value: name },
          { head: l10n.t("this call"), cell: (row) => (row.name !== undefined && row.calls === 0 ? "–" : briefFigure(Math.max(0, row.time), row.resolution)), value: ({ time }) => time },
          ...(isCompared
            ? [
                { head: otherTitle, cell: theirs, value: ({ otherTime }: Difference) => otherTime },
                { head: l10n.t("difference"), cell: delta, value: ({ time, otherTime }: Difference) => time - otherTime },
              ]
            : []),
          { head: "", left: true, optional: true, className: "dim small why", cell: (row) => <Sentence text={noteOf(row, isCompared)} />, text: (row) => noteOf(row, isCompared) },
        ]}
        last={
          <tr class="total">
            <td class="name l"><b>{l10n.t("the call")}</b></td>
            <td><b>{briefFigure(one.latency, one.resolution)}</b></td>
            {other === undefined ? null : <><td><b>{briefFigure(other.latency, other.resolution)}</b></td><td><b>{difference(one.latency - other.latency, one.resolution + other.resolution)}</b></td></>}
            <td class="opt" />
          </tr>
        }
      />
    </Section>
  );
}
