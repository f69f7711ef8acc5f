// The whole panel: header, selection, tabs, and the view of the chosen tab.
import * as l10n from "@vscode/l10n";
import { useEffect } from "preact/hooks";
import type { JSX } from "preact";
import { CallsView, callsCommand } from "../calls/calls-view";
import { changeCommand } from "../change/change-state";
import { ChangeView } from "../change/change-view";
import { FlameView } from "../flame/flame-view";
import { Overview } from "../overview/overview";
import { distribution, flame, selectedReport } from "../state/figures";
import { timelineCommand } from "../timeline/timeline-state";
import { TimelineView } from "../timeline/timeline-view";
import { failure, partial, shown, tab, type ShownFunction, type ShownFunctions, type TabName } from "../state/store";
import { whyCommand } from "../why/why-state";
import { WhyView } from "../why/why-view";
import { DecodingLine, NotCalled, Partial } from "./empty-views";
import { FunctionsHeader, FunctionsTable } from "./functions-view";
import { FunctionHeader } from "./header";
import { handleKey } from "./keyboard";
import { SelectionBar } from "./selection-bar";
import { TabBar, tabItems } from "./tab-bar";

/** Patterns that frames of the flame graph are filled with. */
function Patterns(): JSX.Element {
  return (
    <svg width="0" height="0" class="patterns" aria-hidden="true">
      <defs>
        <pattern id="soft-blocked" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="soft" width="7" height="7" />
          <rect class="ink" width="1.2" height="7" />
        </pattern>
        <pattern id="soft-preempted" width="5" height="5" patternUnits="userSpaceOnUse">
          <rect class="soft pre-soft" width="5" height="5" />
          <circle class="ink pre-ink" cx="2.5" cy="2.5" r="1" />
        </pattern>
        <pattern id="lost" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
          <rect class="gap" width="6" height="6" />
          <rect class="quiet-ink" width="1" height="6" />
        </pattern>
        <pattern id="full-blocked" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="full" width="5" height="5" />
          <rect class="shade" width="1.4" height="5" />
        </pattern>
        <pattern id="full-preempted" width="4" height="4" patternUnits="userSpaceOnUse">
          <rect class="full-pre" width="4" height="4" />
          <circle class="dot" cx="2" cy="2" r="0.9" />
        </pattern>
      </defs>
    </svg>
  );
}

function Failure(): JSX.Element | null {
  const text = failure.value ?? distribution.value.failure ?? selectedReport.value.failure ?? flame.value.failure;
  return text === undefined ? null : <p class="failed" role="alert">{text}</p>;
}

const isLoading = (): boolean => distribution.value.loading || selectedReport.value.loading || flame.value.loading;

function View({ name, shown: value }: { readonly name: TabName; readonly shown: ShownFunction }): JSX.Element {
  switch (name) {
    case "overview":
      return <Overview shown={value} />;
    case "flame":
      return <FlameView />;
    case "why":
      return <WhyView shown={value} />;
    case "calls":
      return <CallsView />;
    case "timeline":
      return <TimelineView shown={value} />;
    case "change":
      return <ChangeView shown={value} />;
  }
}

function FunctionPanel({ of: value }: { readonly of: ShownFunction }): JSX.Element {
  const tabs = tabItems();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!event.defaultPrevented && handleKey(event, tabs)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => {
      document.removeEventListener("keydown", onKeyDown);
    };
  }, [tabs.length]);
  const commands: Partial<Record<TabName, readonly string[] | undefined>> = { calls: callsCommand.value, why: whyCommand.value, timeline: timelineCommand.value, change: changeCommand.value };
  const command = commands[tab.value];
  return (
    <>
      <FunctionHeader shown={value} />
      <Failure />
      <div class="stick">
        <SelectionBar shown={value} command={command} />
        <TabBar items={tabs} />
        <div class={`loading${isLoading() ? " busy" : ""}`} />
      </div>
      {partial.value === undefined ? null : <DecodingLine report={partial.value} />}
      <main>
        <div id="view" role="tabpanel" aria-labelledby={`tab-${tab.value}`} class={isLoading() ? "stale" : ""}>
          <View name={tab.value} shown={value} />
        </div>
      </main>
    </>
  );
}

function FunctionsPanel({ of: { functions, made } }: { readonly of: ShownFunctions }): JSX.Element {
  return (
    <>
      <FunctionsHeader functions={functions} made={made} />
      <Failure />
      <main id="view">
        <FlameView />
        <FunctionsTable functions={functions} />
      </main>
    </>
  );
}

export function App(): JSX.Element {
  const { value } = shown;
  let content: JSX.Element;
  if (partial.value !== undefined && value.kind === "nothing") content = <Partial report={partial.value} />;
  else if (value.kind === "functions") content = <FunctionsPanel of={value} />;
  else if (value.kind === "nothing") content = failure.value === undefined ? <p class="dim small first">{l10n.t("Opening")}</p> : <Failure />;
  else if (value.report.not_called === true) content = <><NotCalled shown={value} /><Failure /></>;
  else content = <FunctionPanel of={value} />;
  return <><Patterns />{content}</>;
}
