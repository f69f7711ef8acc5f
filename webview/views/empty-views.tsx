// What is shown in place of figures: a function that was not called, and the figures so far while a trace is decoded.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { formatBytes } from "../../extension/src/base/units";
import type { PartialReport } from "../../extension/src/panel/panel-messages";
import { Button, Link, SourceLink } from "../base/controls";
import { count, time } from "../base/format";
import { post } from "../base/host";
import { baseName, shortName, withoutParameters } from "../base/names";
import type { ShownFunction } from "../state/store";
import { AllFunctionsLink, RecordingLine } from "./header";

/** A function that was measured and not called: the answer, and what to do next. */
export function NotCalled({ shown: { report, made } }: { readonly shown: ShownFunction }): JSX.Element {
  const { function: identity, recording } = report;
  return (
    <header>
      <div class="top">
        <h1 tabIndex={-1} title={identity.binary}>{withoutParameters(identity.name)}</h1>
        <span class="small"><SourceLink file={identity.file} line={identity.line} fallback={baseName(identity.binary)} /></span>
        <span class="grow" />
        <AllFunctionsLink />
      </div>
      <RecordingLine recording={recording} made={made} />
      <p class="answer" role="status">
        {l10n.t("No call of {0} was seen in {1}. It was not called, or only where it is inlined.", shortName(identity.name), time(recording.trace_ns))}
      </p>
      <p><Button primary onClick={() => { post({ type: "measureAgain" }); }}>{l10n.t("Measure Again")}</Button></p>
    </header>
  );
}

/** "Decoding, 41 %. Figures are of the first 660 calls." with a thin line that grows. */
export function DecodingLine({ report: { done, total, calls } }: { readonly report: PartialReport }): JSX.Element {
  const part = total === 0 ? 0 : done / total;
  return (
    <>
      <progress max={1} value={part} aria-label={l10n.t("Decoding progress")} />
      <p class="decoding dim small" role="status">
        {l10n.t("Decoding, {0} % of {1}. The figures are of the first {2} calls.", (100 * part).toFixed(0), formatBytes(total), count(calls.complete))}{" "}
        <Link small title={l10n.t("Stop decoding this trace")} onClick={() => { post({ type: "stop" }); }}>{l10n.t("Stop")}</Link>
      </p>
    </>
  );
}

/** A function whose trace is being decoded for the first time. */
export function Partial({ report }: { readonly report: PartialReport }): JSX.Element {
  const { calls, latency, off_cpu: offCpu } = report;
  const text = (ns: number): string => (calls.complete > 0 ? time(ns) : "–");
  const values = [
    [l10n.t("calls so far"), count(calls.complete)],
    [l10n.t("mean"), text(latency.mean)],
    [l10n.t("min"), text(latency.min)],
    [l10n.t("max"), text(latency.max)],
    [l10n.t("total"), text(latency.total)],
    [l10n.t("off-CPU"), text(offCpu.total)],
  ];
  return (
    <header class="partial">
      <div class="top"><h1 tabIndex={-1} title={report.function.binary}>{withoutParameters(report.function.name)}</h1></div>
      <DecodingLine report={report} />
      <dl class="raw-figures">
        {values.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
      </dl>
      <p class="dim small">{l10n.t("Percentiles, callers, callees and the flame graph appear when decoding is complete.")}</p>
    </header>
  );
}
