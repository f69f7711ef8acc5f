// The header: what is shown, how it was recorded, and the answer in a sentence.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { probesText } from "../../extension/src/base/latency-text";
import type { Recording, Report } from "../../extension/src/panel/panel-messages";
import { Icon, Link, Sentence, SourceLink } from "../base/controls";
import { count } from "../base/format";
import { post } from "../base/host";
import { baseName, foldName, withoutParameters } from "../base/names";
import { hasTail, shortAnswer } from "../state/answer-text";
import { answer } from "../state/figures";
import { edited, tab, type ShownFunction } from "../state/store";
import { facts, losses, lossText, lostShare, severeLoss, when } from "../base/recording-text";

export function FoldedName({ name, others }: { readonly name: string; readonly others: readonly string[] }): JSX.Element {
  return (
    <>
      {foldName(withoutParameters(name), others.map(withoutParameters)).map((part, index) =>
        typeof part === "string" ? <span key={index}>{part}</span> : <span key={index} class="elided" title={part.text}>{l10n.t("{0} more", part.folded)}</span>,
      )}
    </>
  );
}

/** How the recording was made and what it lost, with all notes behind a click. */
export function RecordingLine({ recording, made, apart = [] }: { readonly recording: Recording; readonly made: number | undefined; readonly apart?: readonly string[] }): JSX.Element {
  const lost = lossText(recording);
  const missing = losses(recording);
  const method = probesText(recording);
  const parts = [...(made === undefined ? [] : [l10n.t("Recorded {0}", when(made, Date.now()))]), ...facts(recording)];
  return (
    <>
      <details class="recording quiet">
        <summary>
          {parts.join(" · ")}
          {lost === undefined ? null : <> · {lostShare(recording) > 0.01 ? <><Icon name="warning" /> </> : null}{lost}</>}
          {apart.map((text) => ` · ${text}`)}
        </summary>
        <ul>
          {recording.notes.map(({ code, text }) => <li key={code + text}>{text}</li>)}
          <li class="path">{recording.path}</li>
        </ul>
      </details>
      {method === undefined ? null : <p class="method quiet">{method}</p>}
      {missing.length === 0 ? null : (
        <ul class="losses" role="status">
          {missing.map((text) => <li key={text}>{text}</li>)}
        </ul>
      )}
    </>
  );
}

function apartTexts({ calls }: Report): string[] {
  return [
    ...(calls.incomplete > 0 ? [calls.incomplete === 1 ? l10n.t("1 call incomplete") : l10n.t("{0} calls incomplete", count(calls.incomplete))] : []),
    ...(calls.unwound > 0 ? [l10n.t("{0} unwound by an exception, longjmp or thread exit", count(calls.unwound))] : []),
  ];
}

function Answer({ report }: { readonly report: Report }): JSX.Element | null {
  if (report.recording.resolution_ns === null) return null;
  const explained = answer.value.value?.explain;
  const isAsked = hasTail(report);
  const text = isAsked && explained !== undefined && explained.sentence !== "" ? explained.sentence : shortAnswer(report);
  return (
    <p class="answer">
      {edited.value ? <b>{l10n.t("Before your edit:")} </b> : null}
      <Sentence text={text} strong={explained?.main_cause ?? ""} />
      {isAsked ? <>{" "}<span class="go"><Link title={l10n.t("Show what makes the slowest calls slow")} onClick={() => { tab.value = "why"; }}>{l10n.t("Why slow?")}</Link></span></> : null}
    </p>
  );
}

export function AllFunctionsLink(): JSX.Element {
  return (
    <Link small title={l10n.t("Show every function of the recording")} onClick={() => { post({ type: "overview" }); }}>
      {l10n.t("All functions")}
    </Link>
  );
}

export function FunctionHeader({ shown: { report, made } }: { readonly shown: ShownFunction }): JSX.Element {
  const { function: identity, recording, instances = [] } = report;
  const severe = severeLoss(recording);
  return (
    <header>
      <div class="top">
        <h1 tabIndex={-1} title={`${identity.name}\n${identity.binary}`}><FoldedName name={identity.name} others={instances.map(({ name }) => name)} /></h1>
        <span class="small"><SourceLink file={identity.file} line={identity.line} fallback={baseName(identity.binary)} /></span>
        <span class="grow" />
        <AllFunctionsLink />
      </div>
      <RecordingLine recording={recording} made={made} apart={apartTexts(report)} />
      {severe === undefined ? null : <p class="warning" role="status">{severe}</p>}
      <Answer report={report} />
    </header>
  );
}
