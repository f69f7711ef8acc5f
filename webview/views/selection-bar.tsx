// The selection in sight: its chips, how many calls it has, and what can be done with it.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { Button, Icon } from "../base/controls";
import { count, time } from "../base/format";
import { post } from "../base/host";
import { answer, distribution, flame, selectedReport } from "../state/figures";
import { chipsOf, withPart, type Chip } from "../state/selection";
import { againstRest, history, isSelected, select, selection, tab, threadName, undo, type ShownFunction } from "../state/store";
import { commandText } from "../state/command";

function ChipView({ chip: { kind, text } }: { readonly chip: Chip }): JSX.Element {
  const remove = (): void => {
    select(withPart(selection.value, kind, undefined));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Backspace" || event.key === "Delete") remove();
  };
  return (
    <span class="chip" data-kind={kind}>
      {text}
      <button type="button" aria-label={l10n.t("Remove: {0}", text)} title={l10n.t("Remove (Backspace)")} onClick={remove} onKeyDown={onKeyDown}>
        <Icon name="close" />
      </button>
    </span>
  );
}

/** "No call is both in worker-4 and slower than 6.0 ms. Remove one." */
function emptyText(chips: readonly Chip[]): string {
  if (chips.length < 2) return l10n.t("No call fulfils this condition.");
  return l10n.t("No call fulfils all of: {0}. Remove one.", chips.map(({ text }) => text).join(", "));
}

function CountText({ shown: { report }, chips }: { readonly shown: ShownFunction; readonly chips: readonly Chip[] }): JSX.Element {
  const data = distribution.value.value;
  const total = data?.total ?? { calls: report.calls.complete, time: report.latency.total };
  if (!isSelected.value) {
    return (
      <span class="count">
        <b>{total.calls === 1 ? l10n.t("1 call") : l10n.t("All {0} calls", count(total.calls))}</b>
        {` · ${time(total.time)} `}
        <span class="dim">· {l10n.t("drag in a chart or click a row to select some")}</span>
      </span>
    );
  }
  if (data === undefined) return <span class="count dim">{l10n.t("counting")}</span>;
  if (data.selected.calls === 0 && !distribution.value.loading) return <span class="count">{emptyText(chips)}</span>;
  return (
    <span class={`count${distribution.value.loading ? " stale" : ""}`}>
      <b>{count(data.selected.calls)}</b> {l10n.t("of {0} calls", count(total.calls))} · <b>{time(data.selected.time)}</b> {l10n.t("of {0}", time(total.time))}
    </span>
  );
}

/** The command line that answers what the present tab shows; the helper returns it with each answer. */
export function presentCommand(shown: ShownFunction): readonly string[] | undefined {
  if (tab.value === "flame") return flame.value.value?.command;
  if (tab.value === "why" && !isSelected.value) return answer.value.value?.command;
  if (tab.value === "overview") return isSelected.value ? selectedReport.value.value?.command : shown.report.command;
  return undefined;
}

export function SelectionBar({ shown, command }: { readonly shown: ShownFunction; readonly command: readonly string[] | undefined }): JSX.Element {
  const chips = chipsOf(selection.value, threadName);
  const copied = command ?? presentCommand(shown);
  const compare = (): void => {
    againstRest.value = true;
    tab.value = "why";
  };
  return (
    <div class={`bar${isSelected.value ? "" : " none"}`} role="region" aria-label={l10n.t("Selection")}>
      {chips.map((chip) => <ChipView key={chip.kind} chip={chip} />)}
      <span role="status" aria-live="polite"><CountText shown={shown} chips={chips} /></span>
      <span class="acts">
        <Button title={l10n.t("The selection before (Ctrl+Z)")} disabled={history.value.past.length === 0} onClick={undo}>{l10n.t("Undo")}</Button>
        <Button title={l10n.t("All calls (Escape twice)")} disabled={!isSelected.value} onClick={() => { select({}); }}>{l10n.t("Clear")}</Button>
        <Button
          title={copied === undefined ? l10n.t("The command line that answers the same") : commandText(copied)}
          disabled={copied === undefined}
          onClick={() => { if (copied !== undefined) post({ type: "copy", text: commandText(copied) }); }}
        >
          {l10n.t("Copy as Command")}
        </Button>
        <Button primary={isSelected.value} title={l10n.t("Why the selected calls differ from all others")} disabled={!isSelected.value} onClick={compare}>
          {l10n.t("Compare with the Rest")}
        </Button>
      </span>
    </div>
  );
}
