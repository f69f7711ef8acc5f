// The figures of all calls and of the selected ones, one row each, and the raw ones behind a click.
import * as l10n from "@vscode/l10n";
import type { JSX } from "preact";
import { errorOf, explainedMean, latencyFigure, type FigureName } from "../../extension/src/base/latency-text";
import type { Report } from "../../extension/src/panel/panel-messages";
import { ShareBar } from "../base/data-table";
import { briefFigure, count, share, time } from "../base/format";

const names: readonly (readonly [FigureName, string, number])[] = [["p50", "p50", 1], ["p90", "p90", 10], ["p99", "p99", 100], ["p999", "p99.9", 1000], ["max", "max", 1]];

/** Separates the number from its unit, which is drawn smaller. */
function Figure({ text }: { readonly text: string }): JSX.Element {
  const found = /^([<≥]?\s?[\d.,]+)\s(ns|µs|ms|s)$/.exec(text);
  return found === null ? <>{text}</> : <>{found[1]}{"\u00a0"}<span class="u">{found[2]}</span></>;
}

const unbroken = (text: string): string => text.replaceAll(" ", "\u00a0");

export function statesOf({ latency, off_cpu: offCpu }: Pick<Report, "latency" | "off_cpu">): { on: number; blocked: number; preempted: number } {
  const total = latency.total > 0 ? latency.total : 1;
  const [blocked, preempted] = [offCpu.blocked / total, offCpu.preempted / total];
  return { on: Math.max(0, 1 - blocked - preempted), blocked, preempted };
}

function OffCpu({ report }: { readonly report: Report }): JSX.Element {
  if (!report.recording.off_cpu_known) return <td title={l10n.t("The recording does not contain when a thread waited.")}>–</td>;
  const states = statesOf(report);
  const title = l10n.t("on-CPU {0}, blocked {1}, preempted {2}, context switches: {3}", share(states.on), share(states.blocked), share(states.preempted), count(report.off_cpu.switches));
  return (
    <td title={title}>
      <span class="state"><ShareBar part={1} states={states} /></span>
      <span class="pc">{share(states.blocked + states.preempted)}</span>
    </td>
  );
}

function FiguresRow({ label, report, className }: { readonly label: string; readonly report: Report; readonly className: string }): JSX.Element {
  const { latency, calls, recording, self } = report;
  const isTimed = recording.resolution_ns !== null;
  const text = (name: FigureName): string => briefFigure(latency[name], errorOf(latency, name));
  const exact = (name: FigureName): string => unbroken(name === "mean" ? explainedMean(latency) : latencyFigure(latency, name));
  return (
    <tr class={className}>
      <th scope="row">{label}</th>
      {names.map(([name, , needed]) =>
        !isTimed ? <td key={name}>{l10n.t("unknown")}</td>
        : calls.complete < needed ? <td key={name} title={l10n.t("Needs {0} calls", count(needed))}>–</td>
        : <td key={name} title={exact(name)}><Figure text={text(name)} /></td>,
      )}
      <td title={l10n.t("{0}, standard deviation {1}, min {2}", exact("mean"), time(latency.stddev), time(latency.min))}>{isTimed ? <Figure text={text("mean")} /> : l10n.t("unknown")}</td>
      <td>{count(calls.complete)}</td>
      <td class="opt" title={exact("total")}>{isTimed ? <Figure text={text("total")} /> : l10n.t("unknown")}</td>
      <td class="opt" title={self.mean === null ? l10n.t("unknown: some callees were not measured") : l10n.t("mean per call, without the functions that it calls")}>
        {self.mean === null ? "–" : <Figure text={briefFigure(self.mean, self.uncertainty?.mean ?? 0)} />}
      </td>
      <OffCpu report={report} />
    </tr>
  );
}

export function FiguresTable({ report, selected }: { readonly report: Report; readonly selected: Report | undefined }): JSX.Element {
  const heads = [...names.map(([, text]) => text), l10n.t("mean"), l10n.t("calls")];
  return (
    <section data-section="figures" aria-label={l10n.t("Figures")} class="first">
      <div class="scroll" tabIndex={0} role="region" aria-label={l10n.t("Figures")}>
        <table class="figures">
          <thead>
            <tr>
              <td />
              {heads.map((text) => <th key={text} scope="col">{text}</th>)}
              <th scope="col" class="opt">{l10n.t("total")}</th>
              <th scope="col" class="opt">{l10n.t("self")}</th>
              <th scope="col">{l10n.t("off-CPU")}</th>
            </tr>
          </thead>
          <tbody>
            <FiguresRow label={l10n.t("All")} report={report} className="all" />
            {selected === undefined ? null : <FiguresRow label={l10n.t("Selected")} report={selected} className="s" />}
          </tbody>
        </table>
      </div>
      <RawFigures report={report} />
    </section>
  );
}

/** The latency with the time of the probes, when the user asks for it. */
function RawFigures({ report: { raw } }: { readonly report: Report }): JSX.Element | null {
  if (raw === undefined) return null;
  const values = [["mean", "mean"], ...names] as const;
  return (
    <details class="raw small dim">
      <summary>{l10n.t("Raw figures")}</summary>
      <p>{l10n.t("With the time that the probes took. The figures above do not contain it.")}</p>
      <dl class="raw-figures">
        {values.map(([name, text]) => (
          <div key={name}>
            <dt>{text}</dt>
            <dd>{time(raw.latency[name])}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
